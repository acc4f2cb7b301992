/// Numbers in 1 to 10 bytes: seven bits in each, the least significant first; all bytes but the last have their highest
/// bit set.
enum VariableLength {
    /// How many bytes a number takes at least.
    static func byteCount(of number: some FixedWidthInteger) -> Int {
        max(1, (UInt64(number).bitWidth - UInt64(number).leadingZeroBitCount + 6) / 7)
    }
}
