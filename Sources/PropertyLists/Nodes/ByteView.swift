import Foundation

/// Bytes that another value owns.
///
/// Why its unsafe code is sound: owners alone make it, of bytes that they have, and it is used while they are there and
/// unchanged: by a reader while it is given the input, by a function that asks a table for text. Each index, range and
/// word is compared with the count before its use.
struct ByteView: RandomAccessCollection {
    private let bytes: UnsafeBufferPointer<UInt8>

    @inline(__always)
    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Calls a function with the bytes of an array, which end with the call.
    static func with<Result, Failure: Error>(
        _ array: [UInt8],
        _ body: (ByteView) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try array.withUnsafeBufferPointer { bytes throws(Failure) in try body(ByteView(bytes)) }
    }

    var startIndex: Int { 0 }

    @inline(__always)
    var endIndex: Int { bytes.count }

    @inline(__always)
    var count: Int { bytes.count }

    @inline(__always)
    subscript(index: Int) -> UInt8 {
        precondition(UInt(bitPattern: index) < UInt(bitPattern: bytes.count))
        return bytes[index]
    }

    @inline(__always)
    func part(_ range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
        return ByteView(UnsafeBufferPointer(rebasing: bytes[range]))
    }

    /// Eight bytes from an index on, in the order of this machine.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        precondition(index >= 0 && index <= bytes.count &- 8)
        return UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    @inline(__always)
    func isEqual(to other: ByteView) -> Bool {
        guard count == other.count else { return false }
        guard let left = bytes.baseAddress, let right = other.bytes.baseAddress else { return true }
        return memcmp(left, right, count) == 0
    }

    /// Whether a text stands at an index.
    @inline(__always)
    func holds(_ text: StaticString, at index: Int) -> Bool {
        let length = text.utf8CodeUnitCount
        guard index >= 0, length <= count &- index, let start = bytes.baseAddress else { return false }
        return memcmp(start + index, text.utf8Start, length) == 0
    }

    @inline(__always)
    func withContiguousStorageIfAvailable<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        try body(bytes)
    }

    /// The text of bytes that are UTF-8.
    @inline(__always)
    var text: String { String(decoding: bytes, as: UTF8.self) }

    var isUTF8: Bool { isASCII || String(validating: bytes, as: UTF8.self) != nil }

    /// Whether all bytes are below 0x80.
    @inline(__always)
    var isASCII: Bool {
        var seen: UInt8 = 0
        for byte in bytes { seen |= byte }
        return seen < 0x80
    }

    var data: Data { Data(buffer: bytes) }
}
