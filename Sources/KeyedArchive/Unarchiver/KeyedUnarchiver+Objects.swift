import Foundation

/// What an archive's class stands for here.
enum ResolvedClass {
    case intrinsic(UnarchivedIntrinsic)
    case coding(any NSCoding.Type)
}

/// What is known of an archive's classes already: they are few, so that a scan is faster than hashing.
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
    /// The object that a value refers to, `nil` if it refers to nothing.
    func resolve(
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        guard let uid = try source.list.uid(reference) else { return reference }
        let target = try source.reference(ofObject: uid)
        return try source.isNull(target) ? nil : target
    }

    /// The value at a place in a scope: an object by reference, or a scalar inline, which is boxed.
    func object(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        if let uid = try source.list.uid(reference) { return try object(uid) }
        return try scalar(at: reference)
    }

    /// The object in a place of `$objects`; one place is one object, however often it is referred to.
    func object(_ uid: UInt32) throws(ArchiveError) -> Any? {
        let reference = try source.reference(ofObject: uid)
        guard let fields = try source.list.fields(reference) else { return try leaf(uid, reference) }
        if let known = try known(uid, reference) { return known }
        try spend(16)
        try nesting.check(depth, below: NestingLimit.levelsToRead)
        depth += 1
        defer { depth -= 1 }
        objects.begin(uid, of: source.objects.count)
        do throws(ArchiveError) {
            guard let value = try decode(fields, at: reference) else {
                objects.end(uid, .decodedNil)
                return nil
            }
            objects.end(uid, .decoded(value))
            return value
        } catch {
            // Who catches this may ask again, and is to get the same error.
            objects.forget(uid)
            throw error
        }
    }

    @inline(__always)
    private func decode(
        _ fields: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Any? {
        switch try resolvedClass(of: fields, at: reference) {
        case .intrinsic(let intrinsic): try decode(intrinsic, fields)
        case .coding(let type): instance(of: type, fields)
        }
    }

    /// The object in a place of `$objects` that has no parts of its own.
    // Apart, so that its stack is not taken at each level of a graph.
    @inline(never)
    private func leaf(_ uid: UInt32, _ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        switch try source.list.object(reference) {
        case .ascii(let range) where range.count > Self.sharedLength,
            .utf16(let range) where range.count > Self.sharedLength,
            .data(let range) where range.count > Self.sharedLength:
            // Decoded once, so that references to one long text cost no memory each.
            if let known = try known(uid, reference) { return known }
            guard let value = try scalar(at: reference) else { return nil }
            objects.begin(uid, of: source.objects.count)
            objects.end(uid, .decoded(value))
            return value
        case .ascii, .utf16:
            return try source.isNull(reference) ? nil : scalar(at: reference)
        default:
            return try scalar(at: reference)
        }
    }

    /// Longer texts and data are decoded once.
    static let sharedLength = 64

    /// The object that was decoded already.
    private func known(
        _ uid: UInt32,
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Any?? {
        switch objects.state(of: uid) {
        case .unknown: return nil
        case .decodedNil: return .some(nil)
        case .decoded(let value): return .some(value)
        case .inProgress:
            throw ArchiveError(
                .cyclicReference,
                "object \(uid) contains itself",
                offset: try source.list.offset(of: reference)
            )
        }
    }

    private func instance(of type: any NSCoding.Type, _ fields: BinaryPropertyList.Fields) -> Any? {
        let outer = scope
        scope = ArchiveScope(fields)
        defer { scope = outer }
        return type.init(coder: self)
    }

    /// A scalar as an object.
    private func scalar(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        try spend(1)
        switch try source.list.object(reference) {
        case .double(let value):
            // `as? Double` is five times faster on a Double. But one that an integer or a Float could hold may
            // be asked for as such, which only NSNumber answers.
            return Double(Float(value)) == value || value.rounded() == value ? NSNumber(value: value) : value
        case .bool(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .unsigned(let value): return NSNumber(value: value)
        case .float(let value): return NSNumber(value: value)
        case .ascii(let range):
            try spend(range.count)
            return try source.list.string(ascii: range)
        case .utf16(let range):
            try spend(range.count)
            return try source.list.string(utf16: range)
        case .data(let range):
            try spend(range.count)
            return source.list.bytes.data(in: range)
        case .date(let seconds):
            // GNUstep stores dates in this form.
            return Date(timeIntervalSinceReferenceDate: seconds)
        case .null: return nil
        case .uid, .array, .set, .dictionary:
            throw ArchiveError(
                .corrupted,
                "no object where one is referred to",
                offset: try source.list.offset(of: reference)
            )
        }
    }

    // MARK: Classes

    private func resolvedClass(
        of fields: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ResolvedClass {
        let uid = try classUID(of: fields, at: reference)
        if let known = classes[uid] {
            guard case .coding(let type) = known else { return known }
            // What was allowed for one key need not be for another.
            if let cls = type as? AnyClass, expected.allows(cls) { return known }
        }
        let resolved: ResolvedClass
        if let found = try expectedClass(uid) {
            resolved = found
        } else {
            resolved = try lookedUpClass(className(uid), of: reference)
        }
        if classes[uid] == nil { classes.add(resolved, for: uid) }
        return resolved
    }

    /// One of the expected classes itself, by its name's bytes: nearly every root is of one.
    private func expectedClass(_ uid: UInt32) throws(ArchiveError) -> ResolvedClass? {
        guard let name = try classNameReference(uid) else { return nil }
        return try memory.expectedClass(named: name, in: source.list).map { .coding($0) }
    }

    private func lookedUpClass(
        _ name: String,
        of reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ResolvedClass {
        if let intrinsic = UnarchivedIntrinsic.named[name] { return .intrinsic(intrinsic) }
        if let cls = expected.find(name), let type = cls as? any NSCoding.Type,
            !ArchiveHandler.isFoundations(cls)
        {
            return .coding(type)
        }
        throw ArchiveError(
            .classNotAllowed,
            "class \(printable(name)) is not among those expected here",
            offset: try source.list.offset(of: reference)
        )
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

    /// What a class is among those that are built here; `nil` for any other.
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

    /// A name from an archive, fit to be shown in a message.
    func printable(_ name: String) -> String {
        let kept = name.unicodeScalars.prefix(200).map { scalar in
            scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
                ? "\u{FFFD}" : Character(scalar)
        }
        return String(kept)
    }
}
