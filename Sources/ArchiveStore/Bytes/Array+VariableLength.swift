extension [UInt8] {
    /// Appends a number in as few bytes as it takes, see ``VariableLength``.
    mutating func append(variableLength number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}
