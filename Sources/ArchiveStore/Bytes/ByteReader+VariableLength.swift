extension ByteReader {
    /// Takes a number of variable length, as `[UInt8].append(variableLength:)` writes it; `nil` if the bytes end before
    /// it does, or it has more than 64 bits.
    mutating func nextVariableLength() -> UInt64? {
        var number: UInt64 = 0
        for shift: UInt64 in stride(from: 0, to: 64, by: 7) {
            guard let byte = nextByte() else { return nil }
            let bits = UInt64(byte & 0x7F)
            // Ten bytes have 70 bits.
            guard shift < 63 || bits <= 1 else { return nil }
            number |= bits &<< shift
            if byte < 0x80 { return number }
        }
        return nil
    }
}
