extension ArchiveDecoder {
    /// Decodes the keyed values of an object, or of a dictionary with string keys.
    struct KeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
        private let fields: ArchivedFields

        init(_ fields: ArchivedFields) { self.fields = fields }

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
            if let number = try fields.unarchiver.source.number(at: reference), let value = convert(number) {
                return value
            }
            return try decoder(at: reference, key).number(convert)
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
            // The path is built only if this fails.
            if let text = try fields.unarchiver.shortText(at: reference) { return text }
            if let text = try fields.unarchiver.object(at: reference) as? String { return text }
            return try decoder(at: reference, key).intrinsic(type)
        }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try decoder(key).decode(type) }

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

        @inline(__always)
        private func decoder(_ key: some CodingKey) throws -> ArchiveDecoder {
            try decoder(at: fields.value(key), key)
        }

        @inline(__always)
        private func decoder(at reference: BinaryPropertyList.Reference, _ key: some CodingKey) -> ArchiveDecoder {
            ArchiveDecoder(fields.unarchiver, at: reference, path: CodingPath(fields.path, key))
        }
    }

    /// Decodes the members of an array or a set.
    struct ArrayContainer: UnkeyedDecodingContainer {
        private let unarchiver: KeyedUnarchiver
        private let members: [BinaryPropertyList.Reference]
        private let path: CodingPath?
        private(set) var currentIndex = 0

        init(_ decoder: ArchiveDecoder) throws {
            unarchiver = decoder.unarchiver
            guard let members = try unarchiver.arrayMembers(at: decoder.reference) else {
                throw decoder.mismatch([Any].self, asked: "an array")
            }
            self.members = members
            path = decoder.path
        }

        var codingPath: [any CodingKey] { CodingPath.keys(path) }
        var count: Int? { members.count }
        var isAtEnd: Bool { currentIndex >= members.count }

        private var here: CodingPath { CodingPath(path, ArchiveKey(index: currentIndex)) }

        private func next(_ type: Any.Type) throws -> BinaryPropertyList.Reference {
            guard !isAtEnd else {
                let context = Optional(here).context("the array has no more members")
                throw DecodingError.valueNotFound(type, context)
            }
            return members[currentIndex]
        }

        mutating func decodeNil() throws -> Bool {
            guard try unarchiver.isAbsent(next(Any?.self)) else { return false }
            currentIndex += 1
            return true
        }

        mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
            let value = try decoder(for: type).decode(type)
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

        private func decoder(for type: Any.Type = Any.self) throws -> ArchiveDecoder {
            ArchiveDecoder(unarchiver, at: try next(type), path: here)
        }
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

    /// - Parameter root: the root's type if this is the root, which no dictionary can be.
    init(_ decoder: ArchiveDecoder, root: Any.Type?) throws {
        unarchiver = decoder.unarchiver
        path = decoder.path
        guard let target = try unarchiver.source.resolve(decoder.reference) else {
            throw DecodingError.valueNotFound(
                [String: Any].self,
                path.context("nil, where an object is asked for")
            )
        }
        guard case .dictionary(let fields) = try unarchiver.source.list.object(target) else {
            throw decoder.mismatch([String: Any].self, asked: "an object with keys")
        }
        scope = ArchiveScope(fields)
        if let (keys, references) = try unarchiver.dictionaryEntries(of: fields, at: target) {
            if let root {
                let text = "the root is a dictionary, not \(ArchivedClass.of(root).name)"
                throw DecodingError.typeMismatch(root, path.context(text))
            }
            var values: [String: BinaryPropertyList.Reference] = [:]
            for (key, reference) in zip(keys, references) {
                guard let name = try unarchiver.object(at: key) as? String else { continue }
                values[name] = reference
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
        throw DecodingError.keyNotFound(key, path.context("no value"))
    }
}
