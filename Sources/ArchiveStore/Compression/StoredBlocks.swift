/// A zlib stream of stored blocks (RFC 1950, RFC 1951 § 3.2.4): input that does not shrink, as it is.
///
///     78 01                     deflate, 2^15 window, fastest
///     00|01  LEN  ~LEN  bytes   per 65,535 bytes, 01 for the last block; LEN and its complement little-endian
///     Adler-32                  of all the bytes, big-endian
enum StoredBlocks {
    static let largestBlock = 65535
    static let header: [UInt8] = [0x78, 0x01]

    /// The length of the stream for `count` bytes: 5 more per block, at least one, and 6 in all.
    static func byteCount(for count: Int) -> Int { byteCount(ofBlocksFor: count) + 6 }

    /// The length of the blocks alone.
    static func byteCount(ofBlocksFor count: Int) -> Int {
        let blocks = max(1, (count + largestBlock - 1) / largestBlock)
        return count + blocks * 5
    }

    /// The ranges that the blocks of so many bytes have; an empty one for no bytes.
    static func blocks(of count: Int) -> some Sequence<Range<Int>> {
        stride(from: 0, to: max(1, count), by: largestBlock).lazy.map { $0..<min(count, $0 + largestBlock) }
    }

    /// The head that comes before a block's bytes.
    static func head(byteCount: Int, isLast: Bool) -> [UInt8] {
        let (low, high) = (UInt8(truncatingIfNeeded: byteCount), UInt8(truncatingIfNeeded: byteCount >> 8))
        return [isLast ? 1 : 0, low, high, ~low, ~high]
    }

    /// Writes the stream to the start of `output` and returns its length.
    ///
    /// - Precondition: `output` has room for `byteCount(for: input.count)` bytes.
    static func write(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        var stream = StreamOfRuns.Writer(output)
        stream.append(input, isLast: true)
        return stream.finish()
    }
}
