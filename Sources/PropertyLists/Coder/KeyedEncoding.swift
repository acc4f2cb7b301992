/// A dictionary that is being encoded.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: EncodingPlace

    var codingPath: [any CodingKey] { place.codingPath }

    func encodeNil(forKey key: Key) throws {
        try place.add(place.state.builder.string("$null"), forKey: key.stringValue)
    }

    func encode(_ value: String, forKey key: Key) throws {
        try place.add(place.state.builder.string(value), forKey: key.stringValue)
    }

    func encode(_ value: Bool, forKey key: Key) throws {
        try place.add(place.state.append(.bool(value)), forKey: key.stringValue)
    }

    func encode(_ value: Double, forKey key: Key) throws {
        try place.add(place.state.append(.real(value)), forKey: key.stringValue)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        try place.add(place.state.append(.float(value)), forKey: key.stringValue)
    }

    func encode(_ value: Int, forKey key: Key) throws {
        try place.add(place.state.append(.integer(value)), forKey: key.stringValue)
    }

    func encode(_ value: Int8, forKey key: Key) throws {
        try place.add(place.state.append(.integer(value)), forKey: key.stringValue)
    }

    func encode(_ value: Int16, forKey key: Key) throws {
        try place.add(place.state.append(.integer(value)), forKey: key.stringValue)
    }

    func encode(_ value: Int32, forKey key: Key) throws {
        try place.add(place.state.append(.integer(value)), forKey: key.stringValue)
    }

    func encode(_ value: Int64, forKey key: Key) throws {
        try place.add(place.state.append(.integer(value)), forKey: key.stringValue)
    }

    func encode(_ value: UInt, forKey key: Key) throws {
        try place.add(place.state.append(.unsigned(value)), forKey: key.stringValue)
    }

    func encode(_ value: UInt8, forKey key: Key) throws {
        try place.add(place.state.append(.unsigned(value)), forKey: key.stringValue)
    }

    func encode(_ value: UInt16, forKey key: Key) throws {
        try place.add(place.state.append(.unsigned(value)), forKey: key.stringValue)
    }

    func encode(_ value: UInt32, forKey key: Key) throws {
        try place.add(place.state.append(.unsigned(value)), forKey: key.stringValue)
    }

    func encode(_ value: UInt64, forKey key: Key) throws {
        try place.add(place.state.append(.unsigned(value)), forKey: key.stringValue)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try place.add(place.member(value, key: key), forKey: key.stringValue)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        place.container(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        place.container(forKey: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { place.nested(forKey: PropertyListKey.superclass) }
    func superEncoder(forKey key: Key) -> any Encoder { place.nested(forKey: key) }
}
