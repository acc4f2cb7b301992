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

        func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try fields.number(key, \.bool) }
        func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try fields.number(key, \.double) }
        func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try fields.number(key, \.float) }
        func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try fields.integer(key) }
        func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try fields.integer(key) }
        func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try fields.integer(key) }
        func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try fields.integer(key) }
        func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try fields.integer(key) }
        func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try fields.integer(key) }
        func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try fields.integer(key) }
        func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try fields.integer(key) }
        func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try fields.integer(key) }
        func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try fields.integer(key) }

        func decode(_ type: String.Type, forKey key: Key) throws -> String {
            try fields.text(key)
        }

        func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
            try fields.decode(type, key)
        }

        // The protocol's own look each key up three times.

        func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
            try fields.numberIfPresent(key, \.bool)
        }
        func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
            try fields.numberIfPresent(key, \.double)
        }
        func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
            try fields.numberIfPresent(key, \.float)
        }
        func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
            try fields.integerIfPresent(key)
        }
        func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
            try fields.integerIfPresent(key)
        }

        func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
            try fields.textIfPresent(key)
        }

        func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
            try fields.decodeIfPresent(type, key)
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> {
            try fields.decoder(key).container(keyedBy: type)
        }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            try fields.decoder(key).unkeyedContainer()
        }

        func superDecoder() throws -> any Decoder { try fields.decoder(ArchiveKey.superKey) }
        func superDecoder(forKey key: Key) throws -> any Decoder { try fields.decoder(key) }
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
            // The path, which takes two allocations, only where the value's own coding may need it.
            let value = try unarchiver.plain(type, at: next(type)) {
                try unarchiver.budget.spend(4)
                return $0
            } else: { _ in
                try decoder(for: type).decode(type)
            }
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
