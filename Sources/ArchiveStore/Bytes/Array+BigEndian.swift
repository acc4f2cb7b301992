extension [UInt8] {
    /// Appends the bytes of a number, the most significant first: a field of a format that grows as it is written.
    package mutating func append(bigEndian number: some FixedWidthInteger & BitwiseCopyable) {
        Swift.withUnsafeBytes(of: number.bigEndian) { self += $0 }
    }
}
