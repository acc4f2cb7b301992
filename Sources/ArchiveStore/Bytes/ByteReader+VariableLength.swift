extension ByteReader {
    /// Takes a number of variable length, as `[UInt8].append(variableLength:)` writes it; `nil` if the bytes end before
    /// it does, or it has more than 64 bits.
    mutating func nextVariableLength() -> UInt64? {
        var number: UInt64 = 0
        for shift: UInt64 in stride(from: 0, to: 64, by: 7) {
            guard let byte = next(UInt8.self) else { return nil }
            let bits = UInt64(byte & 0x7F)
            let shifted = bits << shift
            guard shifted >> shift == bits else { return nil }
            number |= shifted
            if byte < 0x80 { return number }
        }
        return nil
    }
}
