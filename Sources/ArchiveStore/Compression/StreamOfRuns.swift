/// A zlib stream (RFC 1950) of a large input: the runs that shrink are deflated, the others are stored.
///
///     78 01          deflate, 2^15 window, fastest
///     run …          deflated blocks, which refer to nothing before the run; or stored ones, see `StoredBlocks`
///     Adler-32       of all the bytes, big-endian
///
/// A run that is deflated and not the last one ends with an empty stored block, so that the next one begins with a byte
/// of its own (as after zlib's `Z_SYNC_FLUSH`).
enum StreamOfRuns {
    /// Writes the stream to the start of `output` and returns its length.
    ///
    /// - Parameters:
    ///   - runs: one after another, all of `input`; every one but the last a multiple of the largest stored block long.
    ///   - deflate: deflates a run into a space, without zlib's header and trailer, and returns how many bytes it took
    ///     there; `nil` if it does not fit. It is told whether the stream ends with the run.
    /// - Precondition: `output` has room for `StoredBlocks.byteCount(for: input.count)` bytes.
    static func write(
        _ input: UnsafeRawBufferPointer,
        _ runs: [CompressionProbe.Run],
        into output: UnsafeMutableRawBufferPointer,
        deflate: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer, _ isLast: Bool) -> Int?
    ) -> Int {
        var stream = Writer(output)
        for run in runs {
            let bytes = UnsafeRawBufferPointer(rebasing: input[run.range])
            let isLast = run.range.upperBound == input.count
            stream.append(bytes, isLast: isLast) { run.shrinks ? deflate($0, $1, isLast) : nil }
        }
        return stream.finish()
    }

    /// Writes a stream piece by piece, within the bounds of its output.
    struct Writer {
        private let output: UnsafeMutableRawBufferPointer
        private var count: Int
        private var checksum: UInt32 = 1

        /// - Precondition: there is room for `StoredBlocks.byteCount(for:)` bytes of all that is appended.
        init(_ output: UnsafeMutableRawBufferPointer) {
            self.output = output
            output.copyBytes(from: StoredBlocks.header)
            count = StoredBlocks.header.count
        }

        /// Appends the blocks that `deflate` writes, or stored blocks if it returns `nil`: they take no more bytes.
        mutating func append(
            _ input: UnsafeRawBufferPointer,
            isLast: Bool,
            deflate: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Int?
        ) {
            // One byte less than they take stored.
            let end = count + StoredBlocks.byteCount(ofBlocksFor: input.count) - 1
            guard let deflated = deflate(input, UnsafeMutableRawBufferPointer(rebasing: output[count..<end])) else {
                return append(input, isLast: isLast)
            }
            checksum = Zlib.adler32(input, continuing: checksum)
            count += deflated
        }

        /// Appends stored blocks.
        mutating func append(_ input: UnsafeRawBufferPointer, isLast: Bool) {
            for range in StoredBlocks.blocks(of: input.count) {
                let isLast = isLast && range.upperBound == input.count
                append(StoredBlocks.head(byteCount: range.count, isLast: isLast))
                let block = UnsafeRawBufferPointer(rebasing: input[range])
                append(block)
                // While the block is still in the processor's cache.
                checksum = Zlib.adler32(block, continuing: checksum)
            }
        }

        /// Ends the stream and returns its length.
        func finish() -> Int {
            ByteWriter(output).store(checksum, at: count)
            return count + MemoryLayout.size(ofValue: checksum)
        }

        private mutating func append(_ bytes: some Collection<UInt8>) {
            UnsafeMutableRawBufferPointer(rebasing: output[count...]).copyBytes(from: bytes)
            count += bytes.count
        }
    }
}
