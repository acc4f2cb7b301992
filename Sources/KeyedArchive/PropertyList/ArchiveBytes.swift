import Foundation

/// The bytes of an archive that is being read, each read checked.
///
/// An `Array` in a struct is retained and released around most calls, and a number of two bytes is two checked
/// reads. This is a place in memory and a length, which are copied without counting references, and a number of any
/// width is one checked read.
///
/// Why the pointer is safe: the bytes neither move nor change, nor are they freed, while a value of this type is
/// in use, because the memory's owner outlives each such use. These are an unarchiver, which has the memory for as long as
/// it lives; the call that `reading` is, which reads bytes in place; and the origin of a list that was XML. Offsets
/// come from the input: each read of every caller is checked against `count` here.
struct ArchiveBytes: Sendable, BitwiseCopyable {
    let count: Int
    // Unchecked: the bytes do not change.
    nonisolated(unsafe) private let base: UnsafePointer<UInt8>

    /// The caller must keep the buffer, and not change it, for as long as the bytes are in use.
    init(borrowing buffer: borrowing RawBuffer<UInt8>) {
        count = buffer.count
        base = buffer.start
    }

    /// The bytes of a buffer that is valid for as long as this is in use: inside of the call that lends it.
    init(borrowing buffer: UnsafeBufferPointer<UInt8>) {
        count = buffer.count
        // Without an address there are no bytes, and no read is let through.
        base = buffer.baseAddress ?? StaticString("").utf8Start
    }

    /// Whether these may be a binary property list, as the first byte tells.
    var isBinary: Bool { count > 0 && base[0] == 0x62 }

    subscript(offset: Int) -> UInt8 {
        @inline(__always) get {
            precondition(offset >= 0 && offset < count)
            return base[offset]
        }
    }

    /// A number of `width` bytes, the highest first.
    ///
    /// - Precondition: `width` is 1 to 8, and eight bytes follow `offset`: no number lies in a property list's
    ///   last eight bytes but one that fills them.
    @inline(__always)
    func bigEndian(_ offset: Int, _ width: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= count &- 8)
        let word = UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self)
        return UInt64(bigEndian: word) &>> UInt64(truncatingIfNeeded: 64 &- 8 &* width)
    }

    /// Whether the bytes from `offset` on are those of `text`, and all there.
    @inline(__always)
    func hold(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
        guard offset >= 0, text.count <= count, offset <= count &- text.count else { return false }
        return haveSameBytes(UnsafeBufferPointer(start: base + offset, count: text.count), text)
    }

    /// A part of the bytes, valid only while `body` runs.
    @inline(__always)
    func withBytes<Result, Failure>(
        in range: Range<Int>,
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return try body(UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
    }

    func data(in range: Range<Int>) -> Data { withBytes(in: range) { Data(buffer: $0) } }
}
