import Foundation

/// Decodes one Codable value.
///
/// Three words: an existential of more would have to be allocated for each value.
struct ArchiveDecoder: Decoder {
    let unarchiver: KeyedUnarchiver
    let path: CodingPath?
    /// Twice the reference, plus 1 for the root. References beyond 2⁶² become negative, which are of no object either.
    private let place: Int

    var reference: BinaryPropertyList.Reference { place >> 1 }
    /// Whether this decodes the root, so that its class is compared with the type.
    private var isRoot: Bool { place & 1 == 1 }

    init(
        _ unarchiver: KeyedUnarchiver,
        at reference: BinaryPropertyList.Reference,
        path: CodingPath?,
        isRoot: Bool = false
    ) {
        self.unarchiver = unarchiver
        self.path = path
        place = reference << 1 | (isRoot ? 1 : 0)
    }

    var codingPath: [any CodingKey] { CodingPath.keys(path) }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let root = isRoot ? unarchiver.codableRoot.type : nil
        return KeyedDecodingContainer(KeyedContainer<Key>(try ArchivedFields(self, root: root)))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try ArrayContainer(self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ArchiveDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { (try? unarchiver.isAbsent(reference)) ?? false }
    func decode(_ type: Bool.Type) throws -> Bool { try number(\.bool) }
    func decode(_ type: String.Type) throws -> String {
        // Enumerations with raw values come here.
        if let text = try unarchiver.text(at: reference) { return text }
        return try intrinsic(type)
    }
    func decode(_ type: Double.Type) throws -> Double { try number(\.double) }
    func decode(_ type: Float.Type) throws -> Float { try number(\.float) }
    func decode(_ type: Int.Type) throws -> Int { try number { $0.integer(type) } }
    func decode(_ type: Int8.Type) throws -> Int8 { try number { $0.integer(type) } }
    func decode(_ type: Int16.Type) throws -> Int16 { try number { $0.integer(type) } }
    func decode(_ type: Int32.Type) throws -> Int32 { try number { $0.integer(type) } }
    func decode(_ type: Int64.Type) throws -> Int64 { try number { $0.integer(type) } }
    func decode(_ type: UInt.Type) throws -> UInt { try number { $0.integer(type) } }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try number { $0.integer(type) } }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try number { $0.integer(type) } }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try number { $0.integer(type) } }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try number { $0.integer(type) } }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try unarchiver.budget.spend(4)
        return try unarchiver.plain(type, at: reference) { kind in
            if kind == .own {
                try unarchiver.nesting.enter()
                defer { unarchiver.nesting.leave() }
                return try own(type)
            }
            return try builtIn(type, kind)
        }
    }

    /// Decodes a value by its type's `init(from:)`.
    private func own<T: Decodable>(_ type: T.Type) throws -> T {
        if isRoot { unarchiver.codableRoot.type = type }
        return try T(from: self)
    }

    /// Decodes a value of a type that archives have a form of their own for.
    // Apart, for the optionals of types that are not known, which its casts need.
    @inline(never)
    private func builtIn<T: Decodable>(_ type: T.Type, _ kind: CodableKind) throws -> T {
        switch kind {
        case .string, .date, .data, .url, .uuid: return try intrinsic(type)
        case .strings:
            if let texts = try unarchiver.texts(at: reference) { return identity(texts, as: type) }
        case .decimal:
            if let value = try unarchiver.decimal(at: reference) { return identity(value, as: type) }
        case .formed, .dictionary: return try cast(type, kind)
        default: break
        }
        try unarchiver.nesting.enter()
        defer { unarchiver.nesting.leave() }
        // Arrays of the commonest types as the array's own `init(from:)` would decode them, without a container and
        // without generic code for each member.
        switch kind {
        case .strings: return identity(try list { try unarchiver.text(at: $0) }, as: type)
        case .integers:
            return identity(try list { try unarchiver.source.number(at: $0)?.integer(Int.self) }, as: type)
        case .doubles: return identity(try list { try unarchiver.source.number(at: $0)?.double }, as: type)
        case .dates: return identity(try list { try unarchiver.date(at: $0) }, as: type)
        case .urls: return identity(try list { try unarchiver.url(at: $0) }, as: type)
        case .uuids: return identity(try list { try unarchiver.uuid(at: $0) }, as: type)
        default: break
        }
        return try own(type)
    }

    /// Decodes a dictionary, or a value of Foundation's that is cast to its type.
    // Apart: a function with such casts asks the runtime for the optional of the type each time.
    @inline(never)
    private func cast<T: Decodable>(_ type: T.Type, _ kind: CodableKind) throws -> T {
        if kind == .formed, let object = try unarchiver.formedObject(at: reference) {
            guard let value = object as? T ?? (object as? NSValue)?.specialContent as? T else {
                throw mismatch(type)
            }
            return value
        }
        try unarchiver.nesting.enter()
        defer { unarchiver.nesting.leave() }
        if kind == .dictionary, let value = try (type as? any UnarchivableDictionary.Type)?.make(self) {
            guard let typed = value as? T else { throw mismatch(type) }
            return typed
        }
        return try own(type)
    }

    /// - Parameter plain: decodes a member in its usual form; `nil` for one that takes a longer way, or is wrong.
    @inline(__always)
    private func list<Member: Decodable>(
        _ plain: (BinaryPropertyList.Reference) throws -> Member?
    ) throws -> [Member] {
        guard let references = try unarchiver.arrayMembers(at: reference) else {
            throw mismatch([Any].self, asked: "an array")
        }
        var members: [Member] = []
        members.reserveCapacity(references.count)
        for (index, reference) in references.enumerated() {
            try unarchiver.budget.spend(4)
            if let member = try plain(reference) {
                members.append(member)
            } else {
                let path = CodingPath(path, ArchiveKey(index: index))
                members.append(try ArchiveDecoder(unarchiver, at: reference, path: path).decode(Member.self))
            }
        }
        return members
    }

    /// Decodes a string, date, data, URL or UUID.
    func intrinsic<T>(_ type: T.Type) throws -> T {
        guard let value = try plainObject(type) else {
            throw DecodingError.valueNotFound(type, path.context("nil, where a \(type) is expected"))
        }
        guard let typed = value as? T else { throw mismatch(type) }
        return typed
    }

    /// Decodes an object that is asked for as one of Foundation's; any other one is of another type, not one of a class
    /// that may not be instantiated.
    fileprivate func plainObject(_ type: Any.Type) throws -> Any? {
        do throws(ArchiveError) {
            return try unarchiver.object(at: reference)
        } catch {
            guard error.code == .classNotAllowed, try isForeign() else { throw error }
            throw mismatch(type)
        }
    }

    /// Whether the value is an object of a class that Foundation does not have.
    private func isForeign() throws(ArchiveError) -> Bool {
        let source = unarchiver.source
        guard let target = try source.resolve(reference),
            case .dictionary(let fields) = try source.list.object(target)
        else { return false }
        let uid = try unarchiver.classUID(of: fields, at: target)
        return try unarchiver.classes.intrinsic(uid, in: source) == nil
    }

    /// Decodes a number or Boolean.
    func number<T>(_ convert: (ArchivedNumber) -> T?) throws -> T {
        guard let number = try unarchiver.source.number(at: reference) else {
            if try unarchiver.isAbsent(reference) {
                throw DecodingError.valueNotFound(T.self, path.context("nil, where a \(T.self) is expected"))
            }
            throw mismatch(T.self)
        }
        guard let value = convert(number) else {
            let cause = unarchiver.misfit(number, reference, asked: T.self)
            throw DecodingError.dataCorrupted(path.context(cause.message, cause))
        }
        return value
    }

    /// The error for a value of another type than the one asked for.
    func mismatch(_ type: Any.Type, asked: String? = nil) -> DecodingError {
        let cause = unarchiver.mismatch(asked ?? "\(type)", reference)
        return DecodingError.typeMismatch(type, path.context(cause.message, cause))
    }
}

/// A dictionary with string or integer keys, read from an `NSDictionary`.
protocol UnarchivableDictionary {
    /// Reads the dictionary; `nil` if its keys are of another type, so that Codable's own form is used.
    static func make(_ decoder: ArchiveDecoder) throws -> Any?
}

extension Dictionary: UnarchivableDictionary where Value: Decodable {
    static func make(_ decoder: ArchiveDecoder) throws -> Any? {
        guard Key.self == String.self || Key.self == Int.self else { return nil }
        let unarchiver = decoder.unarchiver
        guard let (keys, values) = try unarchiver.dictionaryEntries(at: decoder.reference) else {
            throw decoder.mismatch(Self.self)
        }
        var dictionary: [Key: Value] = [:]
        dictionary.reserveCapacity(keys.count)
        for (keyReference, valueReference) in zip(keys, values) {
            // `as? Int` too: integers arrive as NSNumber, which bridges.
            let keyDecoder = ArchiveDecoder(unarchiver, at: keyReference, path: decoder.path)
            let object = try keyDecoder.plainObject(Key.self)
            // Dictionaries that were JSON have their integers as text.
            guard let key = object as? Key ?? integer(object) else { throw keyDecoder.mismatch(Key.self) }
            let path = CodingPath(decoder.path, ArchiveKey(stringValue: "\(key)"))
            dictionary[key] = try ArchiveDecoder(unarchiver, at: valueReference, path: path).decode(Value.self)
        }
        return dictionary
    }

    /// The integer key that a text is; `nil` if it has another form, or keys are strings.
    private static func integer(_ text: Any?) -> Key? {
        guard let text = text as? String, let number = Int(text), String(number) == text else { return nil }
        return number as? Key
    }
}
