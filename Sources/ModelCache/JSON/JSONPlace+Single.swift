/// A value that is being decoded by itself.
extension JSONPlace: SingleValueDecodingContainer {
    func decodeNil() -> Bool { item.kind == .null }
    func decode(_ type: String.Type) throws -> String { try string(item, at: nil) }
    func decode(_ type: Bool.Type) throws -> Bool { try bool(item, at: nil) }
    func decode(_ type: Double.Type) throws -> Double { try real(type, item, at: nil) }
    func decode(_ type: Float.Type) throws -> Float { try real(type, item, at: nil) }
    func decode(_ type: Int.Type) throws -> Int { try integer(type, item, at: nil) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type, item, at: nil) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type, item, at: nil) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type, item, at: nil) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type, item, at: nil) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type, item, at: nil) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type, item, at: nil) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type, item, at: nil) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type, item, at: nil) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type, item, at: nil) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type, item, at: nil) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type, item, at: nil) }
}
