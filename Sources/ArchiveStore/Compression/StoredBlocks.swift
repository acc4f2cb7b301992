/// A zlib stream of stored blocks (RFC 1950, RFC 1951 § 3.2.4): what does not shrink, as it is.
///
///     78 01                     deflate, 2^15 window, fastest
///     00|01  LEN  ~LEN  bytes   per 65,535 bytes, 01 for the last block; LEN and its complement little-endian
///     Adler-32                  of all the bytes, big-endian
enum StoredBlocks {
    private static let largestBlock = 65535

    /// The length of the stream for `count` bytes: 5 more per block, at least one, and 6 in all.
    static func byteCount(for count: Int) -> Int {
        let blocks = max(1, (count + largestBlock - 1) / largestBlock)
        return count + blocks * 5 + 6
    }

    /// Writes the stream to the start of `output` and returns its length.
    ///
    /// - Precondition: `output` has room for `byteCount(for: input.count)` bytes.
    static func write(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
        output[0] = 0x78
        output[1] = 0x01
        var target = 2
        var start = 0
        repeat {
            let count = min(largestBlock, input.count - start)
            output[target] = start + count == input.count ? 1 : 0
            output.storeBytes(of: UInt16(count).littleEndian, toByteOffset: target + 1, as: UInt16.self)
            output.storeBytes(of: (~UInt16(count)).littleEndian, toByteOffset: target + 3, as: UInt16.self)
            let block = UnsafeRawBufferPointer(rebasing: input[start..<(start + count)])
            UnsafeMutableRawBufferPointer(rebasing: output[(target + 5)...]).copyMemory(from: block)
            target += 5 + count
            start += count
        } while start < input.count

        output.storeBytes(of: Zlib.adler32(input).bigEndian, toByteOffset: target, as: UInt32.self)
        return target + 4
    }
}
