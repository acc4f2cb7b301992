extension [UInt8] {
    /// Appends a number in 1 to 10 bytes: seven bits in each, the least significant first; all bytes but the last have
    /// their highest bit set.
    mutating func append(variableLength number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}
