extension [UInt8] {
    /// Appends the bytes of a number, the most significant first: a field of a format that grows as it is written.
    package mutating func append<Number: FixedWidthInteger & BitwiseCopyable>(bigEndian number: Number) {
        // Byte by byte: to append a buffer of a few bytes takes several times as long.
        var shift = Number.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: number &>> Number(truncatingIfNeeded: shift)))
        }
    }
}
