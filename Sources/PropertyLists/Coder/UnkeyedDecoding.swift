import Foundation

/// An array that is being decoded.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
    private let place: DecodingPlace
    private var next: Int
    private(set) var currentIndex = 0
    private let length: Int

    init(_ place: DecodingPlace) {
        self.place = place
        next = place.node.start
        length = place.node.length
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int? { length }
    var isAtEnd: Bool { next == 0 }

    private var key: PropertyListKey { PropertyListKey(intValue: currentIndex) }

    private func member(_ type: Any.Type) throws -> Int {
        guard next != 0 else {
            throw DecodingError.valueNotFound(
                type,
                .init(codingPath: codingPath + [key], debugDescription: "Unkeyed container is at end.")
            )
        }
        return next
    }

    private func node(_ type: Any.Type) throws -> Node { try place.table.nodes[member(type)] }

    private mutating func advance() {
        next = Int(place.table.nodes[next].next)
        currentIndex += 1
    }

    mutating func decodeNil() throws -> Bool {
        guard try place.isNil(node(Any?.self)) else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let value = try place.string(node(type), key)
        advance()
        return value
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let value = try place.bool(node(type), key)
        advance()
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        let value = try place.real(Double.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        let value = try place.real(Float.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        let value = try place.integer(Int.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        let value = try place.integer(Int8.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        let value = try place.integer(Int16.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        let value = try place.integer(Int32.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        let value = try place.integer(Int64.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        let value = try place.integer(UInt.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        let value = try place.integer(UInt8.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        let value = try place.integer(UInt16.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        let value = try place.integer(UInt32.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        let value = try place.integer(UInt64.self, node(type), key: key)
        advance()
        return value
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try place.decode(type, member(type), key: key)
        advance()
        return value
    }

    private mutating func nested(_ type: Any.Type) throws -> DecodingPlace { try place.place(member(type), key) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try nested([String: Any].self).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try nested([Any].self).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try nested((any Decoder).self)
        advance()
        return decoder
    }
}
