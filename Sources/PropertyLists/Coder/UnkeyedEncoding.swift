/// An array that is being encoded.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let place: EncodingPlace

    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int { place.count }

    func encodeNil() throws { try place.add(place.state.builder.string("$null")) }
    func encode(_ value: String) throws { try place.add(place.state.builder.string(value)) }
    func encode(_ value: Bool) throws { try place.add(place.state.append(.bool(value))) }
    func encode(_ value: Double) throws { try place.add(place.state.append(.real(value))) }
    func encode(_ value: Float) throws { try place.add(place.state.append(.float(value))) }
    func encode(_ value: Int) throws { try place.add(place.state.append(.integer(value))) }
    func encode(_ value: Int8) throws { try place.add(place.state.append(.integer(value))) }
    func encode(_ value: Int16) throws { try place.add(place.state.append(.integer(value))) }
    func encode(_ value: Int32) throws { try place.add(place.state.append(.integer(value))) }
    func encode(_ value: Int64) throws { try place.add(place.state.append(.integer(value))) }
    func encode(_ value: UInt) throws { try place.add(place.state.append(.unsigned(value))) }
    func encode(_ value: UInt8) throws { try place.add(place.state.append(.unsigned(value))) }
    func encode(_ value: UInt16) throws { try place.add(place.state.append(.unsigned(value))) }
    func encode(_ value: UInt32) throws { try place.add(place.state.append(.unsigned(value))) }
    func encode(_ value: UInt64) throws { try place.add(place.state.append(.unsigned(value))) }

    func encode<Value: Encodable>(_ value: Value) throws {
        try place.add(place.member(value, key: PropertyListKey(intValue: count)))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        place.nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { place.nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { place.nested() }
}
