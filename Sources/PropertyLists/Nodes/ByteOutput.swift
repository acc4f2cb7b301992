import Foundation

/// The bytes that a writer makes, at the end of which it appends.
///
/// Why its unsafe code is sound: `start` points to `capacity` bytes that this value alone owns; `reserve` leaves room for
/// the bytes that are written after it, and `count` goes up by just as many. Each range that is read is compared with
/// `count` first. The bytes are freed once, by `deinit` or by the `Data` that takes them over. They may be read by several
/// threads at once, because a change needs the value for itself.
struct ByteOutput: ~Copyable, @unchecked Sendable {
    private var start: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        start = Self.allocated(malloc(self.capacity))
    }

    deinit { free(start) }

    private static func allocated(_ memory: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<UInt8> {
        // As Swift's arrays end the process then.
        guard let memory else { fatalError("out of memory") }
        return memory.assumingMemoryBound(to: UInt8.self)
    }

    @inline(__always)
    private mutating func reserve(_ more: Int) { if more > capacity &- count { grow(more) } }

    @inline(never)
    private mutating func grow(_ more: Int) {
        capacity = max(2 * capacity, count + more)
        start = Self.allocated(realloc(start, capacity))
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        memcpy(start + count, source, bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    mutating func append(_ bytes: ByteView) {
        _ = bytes.withContiguousStorageIfAvailable { append($0) }
    }

    mutating func append(_ data: Data) {
        data.withUnsafeBytes { append($0.bindMemory(to: UInt8.self)) }
    }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    mutating func append(_ byte: UInt8, times: Int) {
        reserve(times)
        memset(start + count, Int32(byte), times)
        count &+= times
    }

    /// Appends up to 8 tabs by one store, or more.
    @inline(__always)
    mutating func append(tabs times: Int) {
        guard times <= 8 else { return append(0x09, times: times) }
        reserve(8)
        UnsafeMutableRawPointer(start + count).storeBytes(of: 0x0909_0909_0909_0909, as: UInt64.self)
        count &+= times
    }

    /// Appends bytes that are in it already.
    @inline(__always)
    mutating func append(again range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        reserve(range.count)
        memcpy(start + count, start + range.lowerBound, range.count)
        count &+= range.count
    }

    /// Appends the lowest `width` bytes of a number, the highest first; `width` is at most 8.
    @inline(__always)
    mutating func append(bigEndian number: UInt64, width: Int) {
        reserve(8)
        let shifted = number &<< UInt64(truncatingIfNeeded: 64 &- 8 &* width)
        UnsafeMutableRawPointer(start + count).storeBytes(of: shifted.bigEndian, as: UInt64.self)
        count &+= width
    }

    /// Appends a number in decimal digits, at least `width` of them.
    mutating func append(decimal number: UInt64, width: Int = 1) {
        var digits = 1
        var rest = number
        while rest >= 10 {
            rest /= 10
            digits &+= 1
        }
        digits = max(digits, width)
        reserve(digits)
        rest = number
        var at = count &+ digits
        while at > count {
            at &-= 1
            start[at] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count &+= digits
    }

    mutating func append(decimal number: Int64) {
        if number < 0 { append(0x2D) }
        append(decimal: number.magnitude)
    }

    /// All bytes; valid until the next call that changes this value.
    var all: ByteView { part(0..<count) }

    /// Bytes that were appended; valid until the next call that changes this value.
    @inline(__always)
    func part(_ range: Range<Int>) -> ByteView {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return ByteView(UnsafeBufferPointer(start: start + range.lowerBound, count: range.count))
    }

    /// Appends a number as XML has it: its shortest description, without a fraction of nothing.
    mutating func append(real number: Double, _ description: String) {
        guard number.isFinite else { return append(number.isNaN ? "nan" : number < 0 ? "-infinity" : "+infinity") }
        append(description)
        if count >= 2, start[count - 1] == 0x30, start[count - 2] == 0x2E { count &-= 2 }
    }

    consuming func data() -> Data {
        let data = Data(bytesNoCopy: start, count: count, deallocator: .free)
        discard self
        return data
    }
}
