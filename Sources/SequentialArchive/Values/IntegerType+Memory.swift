extension IntegerType {
    /// The integer of this type at an address.
    ///
    /// Why it is safe: the caller has promised by the type's name that a value of that type lies there, which is the
    /// contract of `NSCoder`'s methods that take such names.
    func load(from address: UnsafeRawPointer) -> StoredInteger {
        switch self {
        case .int8: .signed(Int64(address.loadUnaligned(as: Int8.self)))
        case .uint8: .signed(Int64(address.loadUnaligned(as: UInt8.self)))
        case .int16: .signed(Int64(address.loadUnaligned(as: Int16.self)))
        case .uint16: .signed(Int64(address.loadUnaligned(as: UInt16.self)))
        case .int32, .long: .signed(Int64(address.loadUnaligned(as: Int32.self)))
        case .uint32, .unsignedLong: .signed(Int64(address.loadUnaligned(as: UInt32.self)))
        case .int64: .signed(address.loadUnaligned(as: Int64.self))
        case .uint64: StoredInteger(address.loadUnaligned(as: UInt64.self))
        case .bool: .signed(address.loadUnaligned(as: UInt8.self) == 0 ? 0 : 1)
        }
    }

    /// Stores an integer that this type holds; safe as `load` is.
    func store(_ value: StoredInteger, at address: UnsafeMutableRawPointer) {
        let bits: UInt64 =
            switch value {
            case .signed(let value): UInt64(bitPattern: value)
            case .unsigned(let value): value
            }
        switch size {
        case 1: address.storeBytes(of: UInt8(truncatingIfNeeded: bits), as: UInt8.self)
        case 2: address.storeBytes(of: UInt16(truncatingIfNeeded: bits), as: UInt16.self)
        case 4: address.storeBytes(of: UInt32(truncatingIfNeeded: bits), as: UInt32.self)
        default: address.storeBytes(of: bits, as: UInt64.self)
        }
    }
}
