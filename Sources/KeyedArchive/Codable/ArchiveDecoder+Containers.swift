import Foundation

extension KeyedUnarchiver {
    typealias Entry = (key: BinaryPropertyList.Reference, value: BinaryPropertyList.Reference)

    /// The entries of an archived dictionary; `nil` if it is none.
    func dictionaryEntries(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> [Entry]? {
        guard let target = try resolve(reference),
            case .dictionary(let fields) = try source.list.object(target)
        else { return nil }
        return try dictionaryEntries(of: fields, at: target)
    }

    /// The entries of an object that is an archived dictionary; `nil` if it is none.
    fileprivate func dictionaryEntries(
        of fields: BinaryPropertyList.Fields,
        at target: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> [Entry]? {
        switch try intrinsic(of: classUID(of: fields, at: target)) {
        case .dictionary, .mutableDictionary: break
        default: return nil
        }
        var scope = ArchiveScope(fields)
        let keys = try members(of: &scope, "NSDictionary", under: "NS.keys", indexed: "NS.key.")
        let values = try members(of: &scope, "NSDictionary")
        guard keys.count == values.count else {
            throw ArchiveError(
                .corrupted,
                "dictionary with \(keys.count) keys and \(values.count) values",
                offset: try source.list.offset(of: target)
            )
        }
        return Array(zip(keys, values))
    }

    /// The members of an archived array or set; `nil` if it is none.
    func arrayMembers(
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> [BinaryPropertyList.Reference]? {
        guard let target = try resolve(reference),
            case .dictionary(let fields) = try source.list.object(target)
        else { return nil }
        switch try intrinsic(of: classUID(of: fields, at: target)) {
        case .array, .mutableArray, .set, .mutableSet: break
        default: return nil
        }
        var scope = ArchiveScope(fields)
        return try members(of: &scope, "NSArray")
    }

    /// The keys of an object as its class gave them.
    fileprivate func names(in fields: BinaryPropertyList.Fields) throws(ArchiveError) -> [String] {
        var names: [String] = []
        for index in 0..<fields.count {
            let key = source.list.key(fields, index)
            guard let name = try source.list.string(key) else {
                throw ArchiveError(.corrupted, "key that is no string", offset: try source.list.offset(of: key))
            }
            try spend(bytes: name.utf8.count)
            // One `$` in front marks the archive's own keys, two a user's.
            if !name.hasPrefix("$") {
                names.append(name)
            } else if name.hasPrefix("$$") {
                names.append(String(name.dropFirst()))
            }
        }
        return names
    }
}

/// The keyed values of an object, or of a dictionary with string keys.
final class ArchivedFields {
    let unarchiver: KeyedUnarchiver
    let path: CodingPath?
    // Unchecked: looking up a key calls no code that could look up another one.
    @exclusivity(unchecked) private var scope: ArchiveScope
    /// The values of a dictionary by their keys; `nil` for an object.
    private let dictionary: [String: BinaryPropertyList.Reference]?

    init(
        _ unarchiver: KeyedUnarchiver,
        _ reference: BinaryPropertyList.Reference,
        _ path: CodingPath?,
        root: Any.Type?
    ) throws {
        self.unarchiver = unarchiver
        self.path = path
        guard let target = try unarchiver.resolve(reference) else {
            throw DecodingError.valueNotFound(
                [String: Any].self,
                unarchiver.context("nil, where an object is asked for", path)
            )
        }
        guard case .dictionary(let fields) = try unarchiver.source.list.object(target) else {
            throw unarchiver.mismatch([String: Any].self, reference, path, asked: "an object with keys")
        }
        scope = ArchiveScope(fields)
        if let entries = try unarchiver.dictionaryEntries(of: fields, at: target) {
            if let root {
                let text = "the root is a dictionary, not \(ArchivedClass.of(root).name)"
                throw DecodingError.typeMismatch(root, unarchiver.context(text, path))
            }
            var values: [String: BinaryPropertyList.Reference] = [:]
            for (key, value) in entries {
                guard let name = try unarchiver.object(at: key) as? String else { continue }
                values[name] = value
            }
            dictionary = values
        } else {
            dictionary = nil
        }
    }

    func names() throws -> [String] {
        try dictionary.map { Array($0.keys) } ?? unarchiver.names(in: scope.fields)
    }

    func find(_ key: String) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        if let dictionary { return dictionary[key] }
        return try scope.value(of: key, in: unarchiver.source.list, &unarchiver.memory.keyOrder)
    }

    @inline(__always)
    func value(_ key: some CodingKey) throws -> BinaryPropertyList.Reference {
        if let reference = try find(key.stringValue) { return reference }
        throw DecodingError.keyNotFound(key, unarchiver.context("no value", path))
    }
}

struct ArchivedKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let fields: ArchivedFields

    init(
        _ unarchiver: KeyedUnarchiver,
        _ reference: BinaryPropertyList.Reference,
        _ path: CodingPath?,
        root: Any.Type?
    ) throws {
        fields = try ArchivedFields(unarchiver, reference, path, root: root)
    }

    var codingPath: [any CodingKey] { CodingPath.keys(fields.path) }
    var allKeys: [Key] {
        do {
            return try fields.names().compactMap { Key(stringValue: $0) }
        } catch {
            // This cannot throw; the root does.
            fields.unarchiver.failWithError(error)
            return []
        }
    }

    func contains(_ key: Key) -> Bool { (try? fields.find(key.stringValue)) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        try fields.unarchiver.isAbsent(fields.value(key))
    }

    // Inlined, here and below: the optional of a type that is not known takes 50 ns to make.
    @inline(__always)
    private func number<T>(_ key: Key, _ convert: (ArchivedNumber) -> T?) throws -> T {
        let reference = try fields.value(key)
        return try fields.unarchiver.number(at: reference, fields.path, key, convert)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try number(key, \.bool) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try number(key, \.double) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try number(key, \.float) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try number(key) { $0.integer(type) } }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try number(key) { $0.integer(type) } }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try number(key) { $0.integer(type) } }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try number(key) { $0.integer(type) } }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try number(key) { $0.integer(type) } }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try number(key) { $0.integer(type) } }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try number(key) { $0.integer(type) } }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try number(key) { $0.integer(type) } }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try number(key) { $0.integer(type) } }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try number(key) { $0.integer(type) } }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let reference = try fields.value(key)
        return try fields.unarchiver.string(at: reference, fields.path, key)
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let reference = try fields.value(key)
        return try fields.unarchiver.decode(type, at: reference, CodingPath(fields.path, key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(ArchiveKey.superKey) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

    private func decoder(_ key: some CodingKey) throws -> ArchiveDecoder {
        let reference = try fields.value(key)
        return ArchiveDecoder(fields.unarchiver, reference, CodingPath(fields.path, key))
    }
}

extension KeyedUnarchiver {
    /// The text of a string that is no longer than those that are decoded anew each time; `nil` for anything
    /// else, nil too.
    fileprivate func shortText(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> String? {
        guard let uid = try source.list.uid(reference) else { return nil }
        let target = try source.reference(ofObject: uid)
        guard case .ascii(let range) = try source.list.object(target), range.count <= Self.sharedLength,
            try !source.list.isString(target, "$null")
        else { return nil }
        try spend(range.count + 1)
        return try source.list.string(ascii: range)
    }

    /// Decodes a string under a key; the path is built only if it fails.
    fileprivate func string(
        at reference: BinaryPropertyList.Reference,
        _ parent: CodingPath?,
        _ key: some CodingKey
    ) throws -> String {
        if let text = try shortText(at: reference) { return text }
        if let text = try object(at: reference) as? String { return text }
        return try intrinsic(String.self, at: reference, CodingPath(parent, key))
    }

    @inline(__always)
    fileprivate func number<T>(
        at reference: BinaryPropertyList.Reference,
        _ parent: CodingPath?,
        _ key: some CodingKey,
        _ convert: (ArchivedNumber) -> T?
    ) throws -> T {
        if let number = try number(at: reference), let value = convert(number) { return value }
        return try number(at: reference, CodingPath(parent, key), convert)
    }
}

struct ArchivedArrayContainer: UnkeyedDecodingContainer {
    private let unarchiver: KeyedUnarchiver
    private let members: [BinaryPropertyList.Reference]
    private let path: CodingPath?
    private(set) var currentIndex = 0

    init(
        _ unarchiver: KeyedUnarchiver,
        _ reference: BinaryPropertyList.Reference,
        _ path: CodingPath?
    ) throws {
        guard let members = try unarchiver.arrayMembers(at: reference) else {
            throw unarchiver.mismatch([Any].self, reference, path, asked: "an array")
        }
        self.unarchiver = unarchiver
        self.members = members
        self.path = path
    }

    var codingPath: [any CodingKey] { CodingPath.keys(path) }
    var count: Int? { members.count }
    var isAtEnd: Bool { currentIndex >= members.count }

    private var here: CodingPath { CodingPath(path, ArchiveKey(index: currentIndex)) }

    private func next(_ type: Any.Type) throws -> BinaryPropertyList.Reference {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(type, unarchiver.context("the array has no more members", here))
        }
        return members[currentIndex]
    }

    mutating func decodeNil() throws -> Bool {
        guard try unarchiver.isAbsent(next(Any?.self)) else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try unarchiver.decode(type, at: next(type), here)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try decoder().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try decoder().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try decoder()
        currentIndex += 1
        return decoder
    }

    private func decoder() throws -> ArchiveDecoder {
        ArchiveDecoder(unarchiver, try next(Any.self), here)
    }
}
