import Foundation

/// How the class of a Codable root is compared with the root's type.
struct CodableRoot {
    /// Whether it was compared.
    var isChecked = false
    /// More names that the root's class may have.
    var formerNames: FormerRootNames?
    /// The type that is being decoded as the root: the one asked for, or one that it asks for in its own place.
    var type: Any.Type?
}

extension KeyedUnarchiver {
    /// Unarchives a Codable value from the key `root`.
    ///
    /// The archive may come from `KeyedArchiver.archivedData(encoding:)` or from an `NSCoding` class with the
    /// same name and fields. The root's class must be the type's name; inside, an object of any class or a
    /// dictionary gives its keys to any type that asks for them.
    ///
    /// - Throws: ``ArchiveError`` with code `.typeMismatch` if the root is of another type or a field of another
    ///   kind, `.missingValue` if a field is missing, `.decodingFailed` with the cause if the type's
    ///   `init(from:)` throws an error of its own, `.corrupted`, `.unknownFormat` or `.unsupportedFormat` if
    ///   the bytes are not a sound archive, `.limitExceeded` if it nests more than 1,000 deep.
    /// - Complexity: O(*n*) in the values that are decoded.
    public static func unarchivedValue<T: Decodable>(
        of type: T.Type,
        from data: Data
    ) throws(ArchiveError) -> T {
        var unarchiver = try IdleUnarchivers.take(copying: data, decoding: type)
        let value = try unarchiver.codableRoot(type)
        IdleUnarchivers.giveBack(&unarchiver)
        return value
    }

    /// - Parameter formerNames: more names that the root's class may have.
    package static func unarchive<T: Decodable>(
        decoding type: T.Type,
        formerNames: FormerRootNames? = nil,
        from bytes: [UInt8]
    ) throws(ArchiveError) -> T {
        var unarchiver = try IdleUnarchivers.take(copying: bytes, decoding: type)
        unarchiver.codableRoot.formerNames = formerNames
        let value = try unarchiver.codableRoot(type)
        IdleUnarchivers.giveBack(&unarchiver)
        return value
    }

    static func unarchive<T: Decodable>(
        decoding type: T.Type,
        in memory: UnarchiverMemory,
        limits: ArchiveLimits = ArchiveLimits()
    ) throws(ArchiveError) -> T {
        try KeyedUnarchiver(memory, decoding: type, limits: limits).codableRoot(type)
    }

    /// Decodes the root.
    private func codableRoot<T: Decodable>(_ type: T.Type) throws(ArchiveError) -> T {
        do {
            if let plan {
                let value = try plannedRoot(type, at: plan.root)
                if let error { throw error }
                return value
            }
            guard let root = try value(of: KeyedArchiver.rootKey) else {
                throw ArchiveError(.missingValue, "the archive has no root object")
            }
            let value = try ArchiveDecoder(self, at: root, path: nil, isRoot: true).decode(type)
            // A type that asks for no keys has not been compared with the archive's yet.
            if !codableRoot.isChecked { try checkClass(at: root, is: type) }
            if let error { throw error }
            if let recorder { notePlan(recorder, of: type, root: root) }
            return value
        } catch let error as ArchiveError {
            // An error that was recorded inside has its place already.
            throw self.error == nil ? located(error) : error
        } catch let error as DecodingError {
            // The root's class says more than the first value that was not there.
            if !codableRoot.isChecked, let root = try value(of: KeyedArchiver.rootKey) {
                do throws(ArchiveError) {
                    try checkClass(at: root, is: type)
                } catch {
                    throw located(error)
                }
            }
            throw ArchiveError(error)
        } catch {
            let name = ArchivedClass.of(type).name
            let thrown = ClassNames.name(of: Swift.type(of: error))
            throw ArchiveError(.decodingFailed, "the init(from:) of \(name) threw a \(thrown)", cause: error)
        }
    }

    /// Decodes the root of an archive that follows a plan: plans are of types that decode themselves.
    @inline(__always)
    private func plannedRoot<T: Decodable>(
        _ type: T.Type,
        at root: BinaryPropertyList.Reference
    ) throws -> T {
        try nesting.enter()
        defer { nesting.leave() }
        codableRoot.type = type
        let value = try T(from: ArchiveDecoder(self, at: root, path: nil, isRoot: true))
        if !codableRoot.isChecked { try checkClass(at: root, is: type) }
        return value
    }

    // Apart: seldom needed.
    @inline(never)
    private func notePlan(_ recorder: PlanRecorder, of type: Any.Type, root: BinaryPropertyList.Reference) {
        guard memory.kinds[type] == .own, let plan = recorder.plan(of: self, root: root) else { return }
        memory.plans.add(plan, for: type)
    }

    /// Throws if the root is an object of a class other than `type`'s; it may be one of Foundation's.
    func checkClass(at reference: BinaryPropertyList.Reference, is type: Any.Type) throws(ArchiveError) {
        codableRoot.isChecked = true
        guard let target = try source.resolve(reference),
            case .dictionary(let fields) = try source.list.object(target)
        else { return }
        try checkClass(classUID(of: fields, at: target), at: target, is: type)
    }

    /// As above, of the object at `target`.
    func checkClass(
        _ uid: UInt32,
        at target: BinaryPropertyList.Reference,
        is type: Any.Type
    ) throws(ArchiveError) {
        codableRoot.isChecked = true
        if let name = try classes.nameRange(uid, in: source),
            source.list.hold(classes.archivedName(of: type), in: name)
        {
            return
        }
        let name = ClassNames.portable(try classes.name(uid, in: source))
        if name == classes.archivedName(of: type) { return }
        if try classes.intrinsic(uid, in: source) == nil, !isFormerName(name, of: type),
            codableRoot.formerNames?.contain(name) != true
        {
            let shown = EscapedText.masked(name, prefix: ClassResolver.shownNameLength)
            throw ArchiveError(
                .typeMismatch,
                "the root is \(shown), not \(ArchivedClass.of(type).name); a renamed type gives its former names",
                offset: try source.list.offset(of: target)
            )
        }
    }

    // MARK: Values

    /// Whether a value is nil, or the `NSNull` that stands for nil in a collection.
    func isAbsent(_ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Bool {
        guard let target = try source.resolve(reference) else { return true }
        guard case .dictionary(let fields) = try source.list.object(target) else { return false }
        if case .null? = try intrinsic(of: fields, at: target) { return true }
        return false
    }

    /// The Decimal that an object in Apple's form, or any number, is; `nil` if it is neither, such as the object
    /// with coding keys that Decimal's own `encode(to:)` makes.
    func decimal(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Decimal? {
        if let number = try source.number(at: reference) {
            switch number {
            case .bool: return nil
            case .integer(let value): return Decimal(value)
            case .unsigned(let value): return Decimal(value)
            case .float, .double:
                // Only numbers that a Decimal has room for, with the digits that the number is printed with.
                guard let value = number.double, value == 0 || (1e-90...1e120).contains(value.magnitude) else {
                    return nil
                }
                return NSNumber(value: value).decimalValue
            }
        }
        if let value = try plainDecimal(at: reference) { return value }
        return try formedObject(at: reference) as? Decimal
    }

    /// The object that stands in Apple's form of its class; `nil` for all else, such as one with coding keys.
    func formedObject(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        guard let target = try source.resolve(reference),
            case .dictionary(let fields) = try source.list.object(target),
            case .form? = try intrinsic(of: fields, at: target)
        else { return nil }
        return try object(at: reference)
    }

    /// The text of an ASCII string; `nil` for anything else, nil too, and for a long one that was decoded before.
    func text(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> String? {
        guard let uid = try source.list.uid(reference) else { return nil }
        let target = try source.reference(ofObject: uid)
        if let range = source.list.usualText(target), range.count <= Self.sharedLength, range.count != 5 {
            try budget.spend(range.count &+ 1)
            return try source.list.string(ascii: range)
        }
        // It may be `$null`, too.
        return try otherText(uid, at: target)
    }

    private func otherText(
        _ uid: UInt32,
        at target: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> String? {
        guard case .ascii(let range) = try source.list.object(target) else { return nil }
        guard range.count <= Self.sharedLength else { return try longText(uid, range) }
        if try source.list.isString(target, "$null") { return nil }
        try budget.spend(range.count + 1)
        return try source.list.string(ascii: range)
    }

    /// The text of a string that is decoded once, however often it is referred to; `nil` if it was.
    private func longText(_ uid: UInt32, _ range: Range<Int>) throws(ArchiveError) -> String? {
        guard !asksDelegate, case .unknown = objects.state(of: uid) else { return nil }
        try budget.spend(1)
        try budget.spend(bytes: range.count)
        let text = try source.list.string(ascii: range)
        objects.note(leaf: text, in: uid)
        return text
    }

    /// Decodes a value of one of the commonest types in its usual form; `other` decodes all else.
    @inline(__always)
    func plain<T>(
        _ type: T.Type,
        at reference: BinaryPropertyList.Reference,
        else other: (CodableKind) throws -> T
    ) throws -> T {
        try plain(type, at: reference, then: { $0 }, else: other)
    }

    /// - Parameter then: is called with a value in its usual form.
    // Closures in place of an optional result: the optional of a type that is not known takes 50 ns to make.
    @inline(__always)
    func plain<T, Result>(
        _ type: T.Type,
        at reference: BinaryPropertyList.Reference,
        then: (T) throws -> Result,
        else other: (CodableKind) throws -> Result
    ) throws -> Result {
        let kind = memory.kinds[type]
        switch kind {
        case .string: if let text = try text(at: reference) { return try then(identity(text, as: type)) }
        case .integer:
            if let number = try source.number(at: reference)?.integer(Int.self) {
                return try then(identity(number, as: type))
            }
        case .double:
            if let number = try source.number(at: reference)?.double { return try then(identity(number, as: type)) }
        case .bool:
            if let value = try source.number(at: reference)?.bool { return try then(identity(value, as: type)) }
        case .date: if let date = try date(at: reference) { return try then(identity(date, as: type)) }
        case .url: if let url = try url(at: reference) { return try then(identity(url, as: type)) }
        case .uuid: if let uuid = try uuid(at: reference) { return try then(identity(uuid, as: type)) }
        case .data: if let data = try data(at: reference) { return try then(identity(data, as: type)) }
        default: break
        }
        return try other(kind)
    }

    /// The entries of an archived dictionary; `nil` if it is not one.
    func dictionaryEntries(
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ArchiveSource.Entries? {
        guard let target = try source.resolve(reference),
            case .dictionary(let fields) = try source.list.object(target)
        else { return nil }
        return try dictionaryEntries(of: fields, at: target)
    }

    /// The entries of an object that is an archived dictionary; `nil` if it is not one.
    func dictionaryEntries(
        of fields: BinaryPropertyList.Fields,
        at target: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ArchiveSource.Entries? {
        switch try intrinsic(of: fields, at: target) {
        case .dictionary, .mutableDictionary: break
        default: return nil
        }
        var scope = ArchiveScope(fields)
        return try source.entries(in: &scope, of: target, budget)
    }

    /// The members of an archived array or set; `nil` if it is not one.
    func arrayMembers(
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> [BinaryPropertyList.Reference]? {
        guard let target = try source.resolve(reference),
            case .dictionary(let fields) = try source.list.object(target)
        else { return nil }
        switch try intrinsic(of: fields, at: target) {
        case .array, .mutableArray, .set, .mutableSet: break
        default: return nil
        }
        var scope = ArchiveScope(fields)
        return try source.members(in: &scope, of: "NSArray", budget)
    }

    /// The keys of an object as its class gave them.
    func names(in fields: BinaryPropertyList.Fields) throws(ArchiveError) -> [String] {
        var names: [String] = []
        for index in 0..<fields.count {
            let key = source.list.key(fields, index)
            guard let name = try source.list.string(key) else {
                throw ArchiveError(.corrupted, "key that is not a string", offset: try source.list.offset(of: key))
            }
            try budget.spend(bytes: name.utf8.count)
            // One `$` in front marks the archive's own keys, two a user's.
            if !name.hasPrefix("$") {
                names.append(name)
            } else if name.hasPrefix("$$") {
                names.append(String(name.dropFirst()))
            }
        }
        return names
    }

    /// The built-in kind of an object's class.
    func intrinsic(
        of fields: BinaryPropertyList.Fields,
        at target: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> UnarchivedIntrinsic? {
        try classes.intrinsic(classUID(of: fields, at: target), in: source)
    }
}
