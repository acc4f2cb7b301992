/// Writes the fields of a format into a buffer: big-endian numbers, each at its offset.
struct ByteWriter {
    private let output: UnsafeMutableRawBufferPointer

    init(_ output: UnsafeMutableRawBufferPointer) { self.output = output }

    /// Stores a number at `offset` from the buffer's start.
    ///
    /// Unsafe code, and why it is sound: the store is within the buffer, as is checked right before.
    ///
    /// - Precondition: all of it lies within the buffer.
    func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at offset: Int) {
        precondition(
            offset >= 0 && offset <= output.count - MemoryLayout<Number>.size,
            "a field lies outside of the buffer"
        )
        output.storeBytes(of: number.bigEndian, toByteOffset: offset, as: Number.self)
    }
}
