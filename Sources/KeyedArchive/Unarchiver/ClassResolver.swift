import Foundation

/// The way in which objects of an archived class are decoded here.
enum ResolvedClass {
    case intrinsic(UnarchivedIntrinsic)
    case coding(CodingClass)
    /// Not expected here, and kept as it is.
    case unknown
}

/// A class whose objects decode themselves.
struct CodingClass {
    let type: any NSCoding.Type
    /// The class itself; `nil` for a type that is not a class.
    let cls: AnyClass?
    /// The class as one of objects: an initializer that may return `nil` is called through the runtime's metadata of
    /// `Optional` otherwise, which takes 300 instructions.
    let object: (any (NSObject & NSCoding).Type)?

    init(_ type: any NSCoding.Type) {
        self.type = type
        cls = anyClass(type)
        object = type as? any (NSObject & NSCoding).Type
    }
}

/// Finds the classes of an archive's objects in this process.
///
/// Only classes that the caller expects are found, and Foundation's own: see `isAllowed`.
///
/// A class that an unarchiver's memory keeps from archive to archive. The archive that is being read is a parameter:
/// no part of it is kept.
package final class ClassResolver {
    /// The choices of an unarchiver's user.
    struct Policy {
        /// Whether any class that adopts `NSCoding` may be instantiated.
        var allowsAnyClass = false
        /// Whether the nearest superclass that is known stands in for an unknown class.
        var substitutesSuperclasses = false
        /// Whether objects of classes that are not expected are kept as they are.
        var keepsUnknownClasses = false
        /// Whether classes must adopt `NSSecureCoding` too.
        var requiresSecureCoding = false
    }

    // Unchecked exclusivity: as in `KeyedUnarchiver`.
    @exclusivity(unchecked) var policy = Policy()
    /// The classes that the user gave for class names in archives.
    @exclusivity(unchecked) var given = GivenClasses()
    /// The classes that may be instantiated just now; the innermost `decodeObject(of:)` decides.
    @exclusivity(unchecked) var expected = ExpectedClasses([])
    private let budget: DecodingBudget
    @exclusivity(unchecked) private var resolved = ClassCache<ResolvedClass>()
    @exclusivity(unchecked) private var intrinsics = ClassCache<UnarchivedIntrinsic?>()
    /// The descriptions of classes that are kept as they are.
    @exclusivity(unchecked) private var descriptions: [UInt32: ArchiveTree.ClassDescription] = [:]
    /// The string object that the key `$class` was found to be.
    @exclusivity(unchecked) var classKey: BinaryPropertyList.Reference?
    /// The expected classes of this archive and of earlier ones, with the data that a search for their names needs.
    @exclusivity(unchecked) private var candidates: [CandidateClass] = []
    private static let candidateLimit = 16
    /// The types of the roots of this archive and of those before, with their names in archives.
    @exclusivity(unchecked) private var roots: [(type: Any.Type, name: String)] = []
    private static let rootLimit = 8

    /// The longest part of a class's name that messages show, in characters.
    package static let shownNameLength = 200

    init(_ budget: DecodingBudget) { self.budget = budget }

    /// Sets which classes an archive may hold; strings, numbers, collections, … may be there too.
    ///
    /// Mostly they are those of the archive before.
    func expect(_ root: AnyClass?, _ others: [AnyClass]) {
        let start = root == nil ? 0 : 1
        if expected.classes.count == others.count + start, root == nil || expected.classes[0] == root,
            others.indices.allSatisfy({ expected.classes[$0 + start] == others[$0] })
        {
            return
        }
        expected = ExpectedClasses([root].compactMap(\.self) + others)
    }

    /// Forgets the archive, and the choices of the user who read it.
    func reset() {
        policy = Policy()
        given = GivenClasses()
        resolved.removeAll()
        intrinsics.removeAll()
        if !descriptions.isEmpty { descriptions = [:] }
        classKey = nil
    }

    // MARK: Resolving

    /// The way in which objects of a class are decoded here, if that was found before and still holds.
    func known(_ uid: UInt32) -> ResolvedClass? {
        guard let known = resolved[uid] else { return nil }
        guard case .coding(let coding) = known else { return known }
        // A class that was allowed for one key need not be allowed for another.
        guard let cls = coding.cls, isAllowed(cls) else { return nil }
        return known
    }

    /// Finds the way in which objects of a class are decoded here.
    ///
    /// - Parameters:
    ///   - reference: an object of the class, for errors.
    ///   - delegate: the delegate's class for an archived name, given the names of the class and its superclasses;
    ///     asked if the class is not known, or not expected.
    func resolve(
        _ uid: UInt32,
        of reference: BinaryPropertyList.Reference,
        in source: ArchiveSource,
        asking delegate: (_ name: String, _ chain: [String]) -> AnyClass?
    ) throws(ArchiveError) -> ResolvedClass {
        let found: ResolvedClass
        if let expected = try expectedClass(uid, in: source) {
            found = expected
        } else {
            found = try lookUp(uid, of: reference, in: source, asking: delegate)
        }
        if case .unknown = found { return found }
        if resolved[uid] == nil { resolved.add(found, for: uid) }
        return found
    }

    /// One of the expected classes itself, by its name's bytes: nearly every root is of one.
    private func expectedClass(_ uid: UInt32, in source: ArchiveSource) throws(ArchiveError) -> ResolvedClass? {
        guard given.isEmpty, let name = try nameReference(uid, in: source),
            let coding = candidate(named: name, in: source.list),
            !policy.requiresSecureCoding || isSecure(coding.type)
        else { return nil }
        return .coding(coding)
    }

    /// The first of the expected classes that decodes itself and surely has the name `name`, compared by its bytes.
    private func candidate(
        named name: BinaryPropertyList.Reference,
        in list: BinaryPropertyList
    ) -> CodingClass? {
        for index in expected.classes.indices {
            let position = candidate(expected.classes[index])
            if candidates[position].hasName(name, in: list) { return candidates[position].coding }
        }
        return nil
    }

    /// The position of a class in `candidates`. The entry of a class never changes.
    private func candidate(_ cls: AnyClass) -> Int {
        for index in candidates.indices where candidates[index].cls == cls { return index }
        if candidates.count == Self.candidateLimit { candidates.removeAll(keepingCapacity: true) }
        candidates.append(CandidateClass(cls))
        return candidates.count - 1
    }

    /// The class for an object, looked for in this order: the class that the user gave for its name, the classes of
    /// the process, former names of the expected classes, the names that the archive offers in its place, the
    /// delegate, and its superclasses.
    private func lookUp(
        _ uid: UInt32,
        of reference: BinaryPropertyList.Reference,
        in source: ArchiveSource,
        asking delegate: (_ name: String, _ chain: [String]) -> AnyClass?
    ) throws(ArchiveError) -> ResolvedClass {
        let name = try name(uid, in: source)
        if let found = find(name) { return found }
        if let renamed = expected.find(former: name), isAllowed(renamed), let type = Self.decodable(renamed) {
            return .coding(CodingClass(type))
        }
        // A class that stands in for another one drops the fields that only the other one knows.
        for hint in policy.keepsUnknownClasses ? [] : try source.classNames("$classhints", of: uid, budget) {
            if let found = find(hint) { return found }
        }
        let chain = try source.classNames("$classes", of: uid, budget)
        let answer: AnyClass? = delegate(name, chain)
        if let answer, isAllowed(answer), let type = Self.decodable(answer) { return .coding(CodingClass(type)) }
        if policy.keepsUnknownClasses { return .unknown }
        if policy.substitutesSuperclasses || FoundationClasses.isPrivate(name) {
            for superclass in chain where superclass != name && superclass != "NSObject" {
                if let found = find(superclass) { return found }
            }
        }
        throw ArchiveError(
            .classNotAllowed,
            refusal(of: name, answer: answer),
            offset: try source.list.offset(of: reference)
        )
    }

    /// The class for a name, if it may be instantiated.
    private func find(_ name: String) -> ResolvedClass? {
        if let given = given.find(name) {
            guard isAllowed(given), let type = Self.decodable(given) else { return nil }
            return .coding(CodingClass(type))
        }
        if let intrinsic = UnarchivedIntrinsic.named(name) { return .intrinsic(intrinsic) }
        let found: AnyClass? = policy.allowsAnyClass ? ClassNames.resolve(name) : expected.find(name)
        guard let found, isAllowed(found), let type = Self.decodable(found) else { return nil }
        return .coding(CodingClass(type))
    }

    private func isAllowed(_ cls: AnyClass) -> Bool {
        if policy.requiresSecureCoding, !isSecure(cls) { return false }
        return policy.allowsAnyClass || expected.allows(cls)
    }

    private func isSecure(_ type: Any.Type) -> Bool {
        (type as? any NSSecureCoding.Type)?.supportsSecureCoding ?? false
    }

    /// The class that decodes for a class, if there is one and it is not Foundation's.
    package static func decodable(_ cls: AnyClass) -> (any NSCoding.Type)? {
        let substitute: AnyClass = (cls as? NSObject.Type)?.classForKeyedUnarchiver() ?? cls
        return FoundationClasses.areCodedHere(substitute) ? nil : substitute as? any NSCoding.Type
    }

    // MARK: Refusing

    /// Why no class may be instantiated for a name, and how to allow one.
    ///
    /// - Parameter answer: the class that the delegate gave.
    private func refusal(of name: String, answer: AnyClass?) -> String {
        let shown = EscapedText.masked(name, prefix: Self.shownNameLength)
        if let answer { return "class \(shown): the delegate gave \(reason(against: answer))" }
        if let given = given.find(name) {
            return "class \(shown): setClass(_:forClassName:) gave it \(reason(against: given))"
        }
        if let found = expected.find(name) ?? expected.find(former: name) {
            return "class \(reason(against: found))"
        }
        return "class \(shown) is not among those expected here; name it with classes: or allowing:, "
            + "or give its name to a class that is expected with setClass(_:forClassName:) or formerNames"
    }

    private func reason(against cls: AnyClass) -> String {
        let name = ClassNames.name(of: cls)
        if !(policy.allowsAnyClass || expected.allows(cls)) {
            return "\(name), which is not among those expected here; name that with classes: or allowing:"
        }
        if policy.requiresSecureCoding, !isSecure(cls) {
            return "\(name), which does not support secure coding, as the unarchiver requires"
        }
        return "\(name), which does not adopt NSCoding"
    }

    // MARK: Reading

    /// The name in a class dictionary.
    func name(_ uid: UInt32, in source: ArchiveSource) throws(ArchiveError) -> String {
        if let value = try nameReference(uid, in: source),
            let name = try source.list.shortString(value, below: ArchiveLimits.classNameLimit)
        {
            return name
        }
        let reference = try source.reference(ofObject: uid)
        throw ArchiveError(
            .corrupted,
            "class without a name",
            offset: try source.list.offset(of: reference)
        )
    }

    /// The string that is the name in a class dictionary; `nil` if there is none.
    func nameReference(
        _ uid: UInt32,
        in source: ArchiveSource
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        guard case .dictionary(let fields) = try source.list.object(source.reference(ofObject: uid)) else {
            return nil
        }
        try budget.spend(fields.count)
        return try source.list.value(of: "$classname", in: fields)
    }

    /// The built-in kind of a class, by its name; `nil` for a class that is not built in.
    func intrinsic(_ uid: UInt32, in source: ArchiveSource) throws(ArchiveError) -> UnarchivedIntrinsic? {
        if let known = intrinsics[uid] { return known }
        let intrinsic: UnarchivedIntrinsic?
        switch try familiarName(uid, in: source) {
        case .common(let common): intrinsic = common
        case .foreign: intrinsic = nil
        case .other: intrinsic = UnarchivedIntrinsic.named(try name(uid, in: source))
        }
        intrinsics.add(intrinsic, for: uid)
        return intrinsic
    }

    private enum FamiliarName {
        case common(UnarchivedIntrinsic)
        /// A sound name that begins as none of the built-in classes' does.
        case foreign
        /// A string must be made of the name.
        case other
    }

    private func familiarName(_ uid: UInt32, in source: ArchiveSource) throws(ArchiveError) -> FamiliarName {
        guard let range = try nameRange(uid, in: source) else { return .other }
        return source.list.bytes.withBytes(in: range) { name in
            if !UnarchivedIntrinsic.mayBeNamed(name) { return isASCII(name) ? .foreign : .other }
            return UnarchivedIntrinsic(commonlyNamed: name).map { .common($0) } ?? .other
        }
    }

    /// The bytes of the name in a class dictionary, unchecked; `nil` if it is long, or no ASCII, or there is none.
    func nameRange(_ uid: UInt32, in source: ArchiveSource) throws(ArchiveError) -> Range<Int>? {
        if let range = source.list.usualClassName(try source.reference(ofObject: uid)) {
            try budget.spend(2)
            return range
        }
        guard let reference = try nameReference(uid, in: source),
            case .ascii(let range)? = try source.list.shortText(reference, below: ArchiveLimits.classNameLimit)
        else { return nil }
        return range
    }

    /// Whether objects of Foundation's classes are surely decoded by their own forms: no class was given in place of
    /// another one, and none is expected that could have the name of one.
    var decodesOwnForms: Bool { given.isEmpty && expected.classes.isEmpty }

    /// The name that archives have for a root's type.
    ///
    /// Not from the table of all types: the first dictionary with keys of its kind takes the runtime 375,000 instructions.
    func archivedName(of type: Any.Type) -> String {
        for index in roots.indices where roots[index].type == type { return roots[index].name }
        let name = ClassNames.name(of: type)
        if roots.count == Self.rootLimit { roots.removeAll(keepingCapacity: true) }
        roots.append((type, name))
        return name
    }

    /// The description of a class that is kept as it is.
    func description(_ uid: UInt32, in source: ArchiveSource) throws(ArchiveError) -> ArchiveTree.ClassDescription {
        if let known = descriptions[uid] { return known }
        let place = try source.reference(ofObject: uid)
        guard case .dictionary(let fields) = try source.list.object(place) else {
            throw ArchiveError(.corrupted, "class without a name", offset: try source.list.offset(of: place))
        }
        let made = try source.classDescription(fields, at: place, budget)
        descriptions[uid] = made
        return made
    }
}

/// The archive's classes that are resolved already: they are few, so that a scan is faster than hashing.
private struct ClassCache<Resolved> {
    private var known: [(uid: UInt32, resolved: Resolved)] = []
    private var index: [UInt32: Resolved] = [:]

    subscript(uid: UInt32) -> Resolved? {
        if index.isEmpty { return known.first { $0.uid == uid }?.resolved }
        return index[uid]
    }

    mutating func removeAll() {
        // Not `removeAll`, which takes three times as long for a few.
        if index.isEmpty { while !known.isEmpty { known.removeLast() } } else { self = ClassCache() }
    }

    mutating func add(_ resolved: Resolved, for uid: UInt32) {
        known.append((uid, resolved))
        if known.count == 16 { index = Dictionary(known.map { ($0.uid, $0.resolved) }) { $1 } }
        if known.count > 16 { index[uid] = resolved }
    }
}

/// A class that may be instantiated, and the name that names in an archive are compared with.
private struct CandidateClass {
    let cls: AnyClass
    let name: String
    /// The class as one that decodes itself; `nil` if it does not.
    let coding: CodingClass?

    init(_ cls: AnyClass) {
        self.cls = cls
        name = ArchivedClass.of(cls).name
        coding = ClassResolver.decodable(cls).map(CodingClass.init)
    }

    /// Whether this is surely a class that decodes itself and has the name `reference`.
    func hasName(_ reference: BinaryPropertyList.Reference, in list: BinaryPropertyList) -> Bool {
        coding != nil && list.isKey(name, reference)
    }
}
