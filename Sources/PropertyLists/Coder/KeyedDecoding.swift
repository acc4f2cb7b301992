import Foundation

/// A dictionary that is being decoded.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let place: DecodingPlace
    private let finder: MemberFinder

    init(_ place: DecodingPlace) {
        self.place = place
        finder = MemberFinder(place.table, place.node)
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var allKeys: [Key] { finder.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { finder.member(key.stringValue) != nil }

    @inline(__always)
    private func member(_ key: any CodingKey) throws -> Int {
        if let member = finder.member(key.stringValue) { return member }
        throw DecodingError.keyNotFound(
            key,
            .init(
                codingPath: codingPath,
                debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."
            )
        )
    }

    @inline(__always)
    private func node(_ key: Key) throws -> Node { try place.table.nodes[member(key)] }

    func decodeNil(forKey key: Key) throws -> Bool { try place.isNil(node(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try place.string(node(key), key) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try place.bool(node(key), key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        try place.real(Double.self, node(key), key: key)
    }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        try place.real(Float.self, node(key), key: key)
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        try place.integer(Int.self, node(key), key: key)
    }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
        try place.integer(Int8.self, node(key), key: key)
    }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
        try place.integer(Int16.self, node(key), key: key)
    }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
        try place.integer(Int32.self, node(key), key: key)
    }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        try place.integer(Int64.self, node(key), key: key)
    }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
        try place.integer(UInt.self, node(key), key: key)
    }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
        try place.integer(UInt8.self, node(key), key: key)
    }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
        try place.integer(UInt16.self, node(key), key: key)
    }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
        try place.integer(UInt32.self, node(key), key: key)
    }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
        try place.integer(UInt64.self, node(key), key: key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try place.decode(type, member(key), key: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try place.place(member(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try place.place(member(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        try place.place(member(PropertyListKey.superclass), PropertyListKey.superclass)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try place.place(member(key), key) }
}
