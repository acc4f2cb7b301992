import Foundation

/// The way in which objects of an archived class are decoded here.
enum ResolvedClass {
    case intrinsic(UnarchivedIntrinsic)
    case coding(any NSCoding.Type)
    /// Not expected here, and kept as it is.
    case unknown
}

/// The archive's classes that are resolved already: they are few, so that a scan is faster than hashing.
struct ClassCache<Resolved> {
    private var known: [(uid: UInt32, resolved: Resolved)] = []
    private var index: [UInt32: Resolved] = [:]

    subscript(uid: UInt32) -> Resolved? {
        if index.isEmpty { return known.first { $0.uid == uid }?.resolved }
        return index[uid]
    }

    mutating func removeAll() {
        if index.isEmpty { known.removeAll(keepingCapacity: true) } else { self = ClassCache() }
    }

    mutating func add(_ resolved: Resolved, for uid: UInt32) {
        known.append((uid, resolved))
        if known.count == 16 { index = Dictionary(known.map { ($0.uid, $0.resolved) }) { $1 } }
        if known.count > 16 { index[uid] = resolved }
    }
}

extension KeyedUnarchiver {
    /// The way in which an object is decoded here, by its class.
    func resolvedClass(
        of fields: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ResolvedClass {
        let uid = try classUID(of: fields, at: reference)
        if let known = classes[uid] {
            guard case .coding(let type) = known else { return known }
            // A class that was allowed for one key need not be allowed for another.
            if let cls = anyClass(type), isAllowed(cls) { return known }
        }
        let resolved: ResolvedClass
        if let found = try expectedClass(uid) {
            resolved = found
        } else {
            resolved = try lookedUpClass(uid, of: reference)
        }
        if case .unknown = resolved { return resolved }
        if classes[uid] == nil { classes.add(resolved, for: uid) }
        return resolved
    }

    /// One of the expected classes itself, by its name's bytes: nearly every root is of one.
    private func expectedClass(_ uid: UInt32) throws(ArchiveError) -> ResolvedClass? {
        guard givenClasses.isEmpty, let name = try classNameReference(uid),
            let type = try memory.expectedClass(named: name, in: source.list),
            !requiresSecureCoding || isSecure(type)
        else { return nil }
        return .coding(type)
    }

    /// The class for an object, looked for in this order: the class that the user gave for its name, the classes of
    /// the process, former names of the expected classes, the names that the archive offers in its place, the
    /// delegate, and its superclasses.
    private func lookedUpClass(
        _ uid: UInt32,
        of reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ResolvedClass {
        let name = try className(uid)
        if let found = try find(name) { return found }
        if let renamed = expected.find(former: name), isAllowed(renamed), let type = Self.decodable(renamed) {
            return .coding(type)
        }
        // A class that stands in for another one drops the fields that only the other one knows.
        for hint in keepsUnknownClasses ? [] : try names("$classhints", uid) {
            if let found = try find(hint) { return found }
        }
        let chain = try names("$classes", uid)
        let answer: AnyClass? = delegate?
            .unarchiver(self, cannotDecodeObjectOfClassName: name, originalClasses: chain)
        if let answer, isAllowed(answer), let type = Self.decodable(answer) { return .coding(type) }
        if keepsUnknownClasses { return .unknown }
        if substitutesSuperclasses || Self.isFoundationsOwn(name) {
            for superclass in chain where superclass != name && superclass != "NSObject" {
                if let found = try find(superclass) { return found }
            }
        }
        throw ArchiveError(
            .classNotAllowed,
            refusal(of: name, answer: answer),
            offset: try source.list.offset(of: reference)
        )
    }

    /// Why no class may be instantiated for a name, and how to allow one.
    ///
    /// - Parameter answer: the class that the delegate gave.
    private func refusal(of name: String, answer: AnyClass?) -> String {
        let shown = EscapedText.masked(name, prefix: Self.shownNameLength)
        if let answer { return "class \(shown): the delegate gave \(reason(against: answer))" }
        if let given = givenClasses.find(name) {
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
        if !(allowsAnyClass || expected.allows(cls)) {
            return "\(name), which is not among those expected here; name that with classes: or allowing:"
        }
        if requiresSecureCoding, !isSecure(cls) {
            return "\(name), which does not support secure coding, as the unarchiver requires"
        }
        return "\(name), which does not adopt NSCoding"
    }

    /// The class for a name, if it may be instantiated.
    private func find(_ name: String) throws(ArchiveError) -> ResolvedClass? {
        if let given = givenClasses.find(name) {
            guard isAllowed(given), let type = Self.decodable(given) else { return nil }
            return .coding(type)
        }
        if let intrinsic = UnarchivedIntrinsic.named[name] { return .intrinsic(intrinsic) }
        let found: AnyClass? = allowsAnyClass ? ClassNames.resolve(name) : expected.find(name)
        guard let found, isAllowed(found), let type = Self.decodable(found) else { return nil }
        return .coding(type)
    }

    private func isAllowed(_ cls: AnyClass) -> Bool {
        if requiresSecureCoding, !isSecure(cls) { return false }
        return allowsAnyClass || expected.allows(cls)
    }

    private func isSecure(_ type: Any.Type) -> Bool {
        (type as? any NSSecureCoding.Type)?.supportsSecureCoding ?? false
    }

    /// The class that decodes for a class, if there is one and it is not Foundation's.
    static func decodable(_ cls: AnyClass) -> (any NSCoding.Type)? {
        let substitute: AnyClass = (cls as? NSObject.Type)?.classForKeyedUnarchiver() ?? cls
        return ArchiveHandler.isFoundations(substitute) ? nil : substitute as? any NSCoding.Type
    }

    /// Whether a name is one of those that Foundation gives to private classes of its own, which appear in archives
    /// of other platforms.
    private static func isFoundationsOwn(_ name: String) -> Bool {
        ["NSConcrete", "__NS", "_NS", "OC_"].contains { name.hasPrefix($0) }
    }

    /// A list of names in a class dictionary; empty if there is none.
    private func names(_ key: StaticString, _ uid: UInt32) throws(ArchiveError) -> [String] {
        guard case .dictionary(let fields) = try source.list.object(source.reference(ofObject: uid)) else {
            return []
        }
        try spend(fields.count)
        var scope = ArchiveScope(fields)
        guard let value = try scope.stored("\(key)", in: source.list),
            case .array(let run) = try source.list.object(value)
        else { return [] }
        try spend(run.count)
        var names: [String] = []
        // Real chains have ten names at most.
        for index in 0..<min(run.count, 256) {
            if let name = try source.list.shortString(source.list.element(run, index), below: 4_096) {
                names.append(name)
            }
        }
        return names
    }

    /// The UID of an object's class.
    func classUID(
        of fields: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> UInt32 {
        let list = source.list
        // Any number of objects may be one and the same dictionary of the property list: each search counts.
        try spend(fields.count)
        // Most writers put the class last or first, and use one string object for the key.
        for index in (0..<fields.count).reversed() {
            let key = list.key(fields, index)
            if key != classKey {
                guard try list.isString(key, "$class") else { continue }
                classKey = key
            }
            guard let uid = try list.uid(list.value(fields, index)) else { break }
            return uid
        }
        throw ArchiveError(.corrupted, "object without a class", offset: try list.offset(of: reference))
    }

    /// The name in a class dictionary.
    func className(_ uid: UInt32) throws(ArchiveError) -> String {
        if let value = try classNameReference(uid), let name = try source.list.shortString(value, below: 4_096) {
            return name
        }
        let reference = try source.reference(ofObject: uid)
        throw ArchiveError(
            .corrupted,
            "class without a name",
            offset: try source.list.offset(of: reference)
        )
    }

    /// The built-in kind of a class, by its name; `nil` for a class that is not in `UnarchivedIntrinsic.named`.
    func intrinsic(of uid: UInt32) throws(ArchiveError) -> UnarchivedIntrinsic? {
        if let known = memory.intrinsics[uid] { return known }
        let intrinsic = UnarchivedIntrinsic.named[try className(uid)]
        memory.intrinsics.add(intrinsic, for: uid)
        return intrinsic
    }

    func classNameReference(_ uid: UInt32) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        guard case .dictionary(let fields) = try source.list.object(source.reference(ofObject: uid)) else {
            return nil
        }
        try spend(fields.count)
        return try source.list.value(of: "$classname", in: fields)
    }

    /// The longest part of a class's name that messages show, in characters.
    static let shownNameLength = 200
}
