import Foundation

/// The bytes of an archive that is being read, each read checked.
///
/// An `Array` in a struct is retained and released around most calls, and a number of two bytes is two checked
/// reads. This is a place in memory and a length, and a number of any width is one checked read.
///
/// Why the pointer is safe: it points into the memory of `owner`, which neither moves nor changes while a value
/// of this type holds it, and whose life is extended beyond each read. Offsets come from the input: each read is
/// checked against `count` here, whoever calls.
struct ArchiveBytes: Sendable {
    let count: Int
    // Unchecked: the bytes do not change.
    nonisolated(unsafe) private let base: UnsafePointer<UInt8>
    private let owner: ArchiveMemory

    fileprivate init(_ base: UnsafePointer<UInt8>, count: Int, owner: ArchiveMemory) {
        self.base = base
        self.count = count
        self.owner = owner
    }

    init(copying bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { ArchiveMemory().fill(with: $0) }
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

    func data(in range: Range<Int>) -> Data { withBytes(in: range) { Data($0) } }
}

/// Memory for the bytes of one archive after the other.
///
/// Unchecked: it changes only in `copy`, when it has one user, who is the caller.
final class ArchiveMemory: @unchecked Sendable {
    @exclusivity(unchecked) private var buffer = RawBuffer<UInt8>(capacity: 512)

    /// How many bytes it has room for.
    var capacity: Int { buffer.capacity }

    /// Copies an archive's bytes, over those that were there.
    ///
    /// - Precondition: no `ArchiveBytes` of this memory is in use any more.
    fileprivate func fill(with bytes: UnsafeRawBufferPointer) -> ArchiveBytes {
        buffer.truncate(to: 0)
        bytes.withMemoryRebound(to: UInt8.self) { buffer.append(contentsOf: $0) }
        return ArchiveBytes(buffer.start, count: buffer.count, owner: self)
    }

    /// Copies an archive's bytes to `memory`, or to new memory while anything reads from that.
    static func copy(_ bytes: UnsafeRawBufferPointer, to memory: inout ArchiveMemory) -> ArchiveBytes {
        if !isKnownUniquelyReferenced(&memory) { memory = ArchiveMemory() }
        return memory.fill(with: bytes)
    }
}
