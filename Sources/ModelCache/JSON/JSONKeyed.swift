/// An object that is being decoded.
struct JSONKeyed<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let place: JSONPlace

    var codingPath: [any CodingKey] { place.codingPath }

    var allKeys: [Key] {
        place.document.names(of: Int(place.item.shape)).compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool { place.member(key.stringValue) != nil }

    @inline(__always)
    private func member(_ key: Key) throws -> Int {
        if let member = place.member(key.stringValue) { return member }
        throw DecodingError.keyNotFound(key, place.context("There is no \(key.stringValue).", at: nil))
    }

    /// The member, unless it is absent or null.
    @inline(__always)
    private func present(_ key: Key) -> Int? {
        guard let member = place.member(key.stringValue), place.item(member).kind != .null else { return nil }
        return member
    }

    func decodeNil(forKey key: Key) throws -> Bool { try place.item(member(key)).kind == .null }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let member = try member(key)
        return try place.string(place.item(member), at: member)
    }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let member = try member(key)
        return try place.bool(place.item(member), at: member)
    }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try real(type, member(key)) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try real(type, member(key)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, member(key)) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, member(key)) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, member(key)) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, member(key)) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, member(key)) }
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, member(key)) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, member(key)) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, member(key)) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, member(key)) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, member(key)) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, member(key)) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, member(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try place.decode(type, at: member(key))
    }

    @inline(__always)
    private func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ member: Int) throws -> Number {
        try place.integer(type, place.item(member), at: member)
    }

    @inline(__always)
    private func real<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ type: Number.Type,
        _ member: Int
    ) throws -> Number {
        try place.real(type, place.item(member), at: member)
    }

    // MARK: Members that may be absent

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        try present(key).map { try place.string(place.item($0), at: $0) }
    }
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        try present(key).map { try place.bool(place.item($0), at: $0) }
    }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        try present(key).map { try real(type, $0) }
    }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try integer(type, $0) }
    }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try present(key).map { try place.decode(type, at: $0) }
    }

    // MARK: Containers inside

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try place.place(member(key)).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try place.place(member(key)).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { decoder("super") }
    func superDecoder(forKey key: Key) -> any Decoder { decoder(key.stringValue) }

    /// An absent one decodes null.
    private func decoder(_ name: String) -> any Decoder {
        if let member = place.member(name) { return place.place(member) }
        return JSONPlace(place.document, .null, parent: place, absentName: name)
    }
}
