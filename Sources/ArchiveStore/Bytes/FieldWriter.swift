/// Writes the fields of a format into a buffer, one after another.
///
/// Unsafe code, and why it is sound: `ByteWriter` checks each number, and a run of bytes is copied by a call that checks
/// its length.
struct FieldWriter {
    private let output: UnsafeMutableRawBufferPointer
    private let fields: ByteWriter
    private var position = 0

    init(_ output: UnsafeMutableRawBufferPointer) {
        self.output = output
        fields = ByteWriter(output)
    }

    mutating func write<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number) {
        fields.store(number, at: position)
        position += MemoryLayout<Number>.size
    }

    mutating func write(_ bytes: [UInt8]) {
        UnsafeMutableRawBufferPointer(rebasing: output[position...]).copyBytes(from: bytes)
        position += bytes.count
    }

    /// Writes a number of variable length.
    ///
    /// - Parameter byteCount: how many bytes it takes, at least as many as it needs; `nil`: just these.
    mutating func write(variableLength number: Int, byteCount: Int? = nil) {
        let byteCount = byteCount ?? VariableLength.byteCount(of: number)
        var rest = UInt64(number)
        for index in 1...byteCount {
            write(UInt8(truncatingIfNeeded: rest & 0x7F) | (index < byteCount ? 0x80 : 0))
            rest >>= 7
        }
    }
}
