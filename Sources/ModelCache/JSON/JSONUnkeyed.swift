/// An array that is being decoded.
struct JSONUnkeyed: UnkeyedDecodingContainer {
    private let place: JSONPlace
    private let length: Int
    private(set) var currentIndex = 0

    init(_ place: JSONPlace) {
        self.place = place
        length = Int(place.item.count)
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int? { length }
    var isAtEnd: Bool { currentIndex >= length }

    @inline(__always)
    private func item(_ type: Any.Type) throws -> JSONItem {
        if !isAtEnd { return place.item(currentIndex) }
        let path = place.path + [JSONKey(intValue: currentIndex)]
        throw DecodingError.valueNotFound(
            type,
            .init(codingPath: path, debugDescription: "The array is at its end.")
        )
    }

    mutating func decodeNil() throws -> Bool {
        guard try item(Any?.self).kind == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode(_ type: String.Type) throws -> String {
        let value = try place.string(item(type), at: currentIndex)
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        let value = try place.bool(item(type), at: currentIndex)
        currentIndex += 1
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double { try real(type) }
    mutating func decode(_ type: Float.Type) throws -> Float { try real(type) }
    mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    @inline(__always)
    private mutating func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
        let value = try place.integer(type, item(type), at: currentIndex)
        currentIndex += 1
        return value
    }

    @inline(__always)
    private mutating func real<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ type: Number.Type
    ) throws -> Number {
        let value = try place.real(type, item(type), at: currentIndex)
        currentIndex += 1
        return value
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        _ = try item(type)
        let value = try place.decode(type, at: currentIndex)
        currentIndex += 1
        return value
    }

    // MARK: Containers inside

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try next([String: Any].self).container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try next([Any].self).unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try next((any Decoder).self)
        currentIndex += 1
        return decoder
    }

    private func next(_ type: Any.Type) throws -> JSONPlace {
        _ = try item(type)
        return place.place(currentIndex)
    }
}
