import Foundation

/// A single value that is being decoded.
struct SingleDecoding: SingleValueDecodingContainer {
    let place: DecodingPlace

    var codingPath: [any CodingKey] { place.codingPath }

    func decodeNil() -> Bool { place.isNil(place.node) }
    func decode(_ type: String.Type) throws -> String { try place.string(place.node, nil) }
    func decode(_ type: Bool.Type) throws -> Bool { try place.bool(place.node, nil) }
    func decode(_ type: Double.Type) throws -> Double { try place.real(Double.self, place.node, key: nil) }
    func decode(_ type: Float.Type) throws -> Float { try place.real(Float.self, place.node, key: nil) }
    func decode(_ type: Int.Type) throws -> Int { try place.integer(Int.self, place.node, key: nil) }
    func decode(_ type: Int8.Type) throws -> Int8 { try place.integer(Int8.self, place.node, key: nil) }
    func decode(_ type: Int16.Type) throws -> Int16 { try place.integer(Int16.self, place.node, key: nil) }
    func decode(_ type: Int32.Type) throws -> Int32 { try place.integer(Int32.self, place.node, key: nil) }
    func decode(_ type: Int64.Type) throws -> Int64 { try place.integer(Int64.self, place.node, key: nil) }
    func decode(_ type: UInt.Type) throws -> UInt { try place.integer(UInt.self, place.node, key: nil) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try place.integer(UInt8.self, place.node, key: nil) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try place.integer(UInt16.self, place.node, key: nil) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try place.integer(UInt32.self, place.node, key: nil) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try place.integer(UInt64.self, place.node, key: nil) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try place.decode(type) }
}
