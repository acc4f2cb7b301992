import Foundation

/// The bytes of an archive that is being read, each read checked.
///
/// An `Array` in a struct is retained and released around most calls, and a number of two bytes is two checked
/// reads. This is a place in memory and a length, and a number of any width is one checked read.
///
/// Why the pointer is safe: the bytes neither move nor change, nor are they freed, while a value of this type is
/// in use. Either it holds them itself, as `owner`, which is kept alive beyond each read; or the caller of an
/// `init(borrowing:)` keeps them. Offsets come from the input: each read of every caller is checked against
/// `count` here.
struct ArchiveBytes: Sendable {
    let count: Int
    // Unchecked: the bytes do not change.
    nonisolated(unsafe) private let base: UnsafePointer<UInt8>
    private let owner: Owner?

    private init(_ buffer: borrowing RawBuffer<UInt8>, _ owner: Owner?) {
        count = buffer.count
        base = buffer.start
        self.owner = owner
    }

    init(copying bytes: [UInt8]) {
        let owner = Owner(bytes)
        self.init(owner.buffer, owner)
    }

    /// The bytes of a buffer, without a reference that is counted.
    ///
    /// The caller must keep the buffer, and not change it, for as long as the bytes are in use.
    init(borrowing buffer: borrowing RawBuffer<UInt8>) { self.init(buffer, nil) }

    /// The bytes of a buffer that is valid for as long as this is in use: inside of the call that lends it.
    init?(borrowing buffer: UnsafeBufferPointer<UInt8>) {
        guard let start = buffer.baseAddress else { return nil }
        (base, count, owner) = (start, buffer.count, nil)
    }

    /// Bytes that never change, which is why they may be shared unchecked.
    private final class Owner: @unchecked Sendable {
        let buffer: RawBuffer<UInt8>

        init(_ bytes: [UInt8]) {
            var buffer = RawBuffer<UInt8>(capacity: bytes.count)
            bytes.withUnsafeBufferPointer { buffer.append(contentsOf: $0) }
            self.buffer = buffer
        }
    }

    subscript(offset: Int) -> UInt8 {
        @inline(__always) get {
            precondition(offset >= 0 && offset < count)
            return withExtendedLifetime(owner) { base[offset] }
        }
    }

    /// A number of `width` bytes, the highest first.
    ///
    /// - Precondition: `width` is 1 to 8, and eight bytes follow `offset`: no number lies in a property list's
    ///   last eight bytes but one that fills them.
    @inline(__always)
    func bigEndian(_ offset: Int, _ width: Int) -> UInt64 {
        precondition(offset >= 0 && offset <= count &- 8)
        let word = withExtendedLifetime(owner) {
            UnsafeRawPointer(base + offset).loadUnaligned(as: UInt64.self)
        }
        return UInt64(bigEndian: word) &>> UInt64(truncatingIfNeeded: 64 &- 8 &* width)
    }

    /// Whether the bytes from `offset` on are those of `text`, and all there.
    @inline(__always)
    func hold(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
        guard offset >= 0, text.count <= count, offset <= count &- text.count else { return false }
        return withExtendedLifetime(owner) {
            haveSameBytes(UnsafeBufferPointer(start: base + offset, count: text.count), text)
        }
    }

    /// A part of the bytes, valid only while `body` runs.
    @inline(__always)
    func withBytes<Result, Failure>(
        in range: Range<Int>,
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return try withExtendedLifetime(owner) { () throws(Failure) in
            try body(UnsafeBufferPointer(start: base + range.lowerBound, count: range.count))
        }
    }

    func data(in range: Range<Int>) -> Data { withBytes(in: range) { Data(buffer: $0) } }
}
