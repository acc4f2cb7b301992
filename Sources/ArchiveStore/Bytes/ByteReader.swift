/// Reads the fields of a format from its bytes: big-endian numbers, and runs of bytes.
///
/// A format with fields at fixed places checks its length once, then reads each by its offset. A format whose fields
/// follow one another takes them with ``next(_:)``, which returns `nil` at the end. Neither ever reads outside of the
/// bytes: a load at an offset is one load and one comparison, which the compiler drops after the check of the length.
package struct ByteReader<Bytes: RandomAccessCollection> where Bytes.Element == UInt8, Bytes.Index == Int {
    private let bytes: Bytes
    /// Where the next field begins.
    private var position: Int

    package init(_ bytes: Bytes) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// The number at `offset` from the start.
    ///
    /// Unsafe code, and why it is sound: the load is within the bytes, as was checked right before.
    ///
    /// - Precondition: all of it lies within the bytes.
    package func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int,
        as _: Number.Type = Number.self
    )
        -> Number
    {
        precondition(
            offset >= 0 && offset <= bytes.count - MemoryLayout<Number>.size,
            "a field lies outside of the bytes"
        )
        let number = bytes.withContiguousStorageIfAvailable {
            UnsafeRawBufferPointer($0).loadUnaligned(fromByteOffset: offset, as: Number.self)
        }
        guard let number else { preconditionFailure("the bytes are not in one piece") }
        return Number(bigEndian: number)
    }

    /// Whether every byte was taken.
    package var isAtEnd: Bool { position == bytes.endIndex }

    /// How many bytes were not taken yet.
    var restCount: Int { bytes.endIndex - position }

    /// Takes the next number; `nil` if the bytes end before it does.
    package mutating func next<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type) -> Number? {
        let size = MemoryLayout<Number>.size
        guard size <= bytes.endIndex - position else { return nil }
        defer { position += size }
        return number(at: position - bytes.startIndex)
    }

    /// Takes the next byte, without the general way of ``next(_:)``, which takes several times as long.
    @inline(__always) mutating func nextByte() -> UInt8? {
        guard position < bytes.endIndex else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    /// Takes the next `count` bytes; `nil` if there are not so many.
    package mutating func next(byteCount count: Int) -> Bytes.SubSequence? {
        guard (0...(bytes.endIndex - position)).contains(count) else { return nil }
        defer { position += count }
        return bytes[position..<(position + count)]
    }
}
