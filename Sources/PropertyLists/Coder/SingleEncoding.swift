/// A single value that is being encoded.
struct SingleEncoding: SingleValueEncodingContainer {
    let place: EncodingPlace

    var codingPath: [any CodingKey] { place.codingPath }

    func encodeNil() throws { try encode("$null") }
    func encode(_ value: String) throws { _ = try place.encode(value) }
    func encode(_ value: Bool) throws { place.fill(.bool(value)) }
    func encode(_ value: Double) throws { place.fill(.real(value)) }
    func encode(_ value: Float) throws { place.fill(.float(value)) }
    func encode(_ value: Int) throws { place.fill(.integer(value)) }
    func encode(_ value: Int8) throws { place.fill(.integer(value)) }
    func encode(_ value: Int16) throws { place.fill(.integer(value)) }
    func encode(_ value: Int32) throws { place.fill(.integer(value)) }
    func encode(_ value: Int64) throws { place.fill(.integer(value)) }
    func encode(_ value: UInt) throws { place.fill(.unsigned(value)) }
    func encode(_ value: UInt8) throws { place.fill(.unsigned(value)) }
    func encode(_ value: UInt16) throws { place.fill(.unsigned(value)) }
    func encode(_ value: UInt32) throws { place.fill(.unsigned(value)) }
    func encode(_ value: UInt64) throws { place.fill(.unsigned(value)) }
    func encode<Value: Encodable>(_ value: Value) throws { _ = try place.encode(value) }
}
