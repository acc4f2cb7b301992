import CChecksum
import CZlib

/// zlib streams (RFC 1950) and CRC-32, one call each; C stops in this folder.
///
/// Streams are pooled (see `DeflateSettings` for the savings) and every function may be called from any thread. With the
/// package's trait `Libdeflate`, libdeflate makes and reads whole streams; their format stays zlib's.
package enum Zlib {
    /// No zlib stream holds more than this many times its own bytes (258 bytes per 2 bits of DEFLATE, and
    /// change).
    static let largestRatio = 1032

    /// The most bytes that one call takes or gives: zlib counts in 32 bits.
    static let largestByteCount = Int(UInt32.max >> 1)

    private static let smallDeflaters = LevelPools(capacity: 8) { DeflateStream(.small(level: $0)) }
    private static let largeDeflaters = LevelPools(capacity: 4) { DeflateStream(.large(level: $0)) }
    private static let inflaters = StreamPool(capacity: 8) { InflateStream() }

    /// The code that makes and reads whole streams.
    enum Engine: CaseIterable {
        /// The package's own, and zlib for the levels that own code does not have.
        case own
        #if Libdeflate
            case libdeflate
        #endif

        /// The engine of the stores: libdeflate in builds that have it.
        static var preferred: Engine {
            #if Libdeflate
                .libdeflate
            #else
                .own
            #endif
        }
    }

    #if Libdeflate
        private static let compressors = LevelPools(capacity: 8) { LibdeflateCompressor(level: $0) }
        private static let decompressors = StreamPool(capacity: 8) { LibdeflateDecompressor() }
    #endif

    /// Deflates `bytes` to a zlib stream; bytes that do not shrink are stored in one, at 5 bytes per 65,535 and 6 in
    /// all.
    ///
    /// - Precondition: `bytes` has at most 2³¹ − 1 bytes.
    package static func deflate(_ bytes: [UInt8], _ compression: ArchiveCompression = .automatic) -> [UInt8] {
        deflate(bytes, compression, by: .preferred)
    }

    /// As ``deflate(_:_:)``, by an engine of the caller's choice.
    static func deflate(_ bytes: [UInt8], _ compression: ArchiveCompression, by engine: Engine) -> [UInt8] {
        let bound = StoredBlocks.byteCount(for: bytes.count)
        return [UInt8](unsafeUninitializedCapacity: bound) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(buffer)
            count = bytes.withUnsafeBytes { input in
                deflate(input, in: compression.runs(of: input), by: compression, into: output, engine: engine)
            }
        }
    }

    /// Deflates `input` to the start of `output` and returns how many bytes it took there.
    ///
    /// - Precondition: `output` has room for `StoredBlocks.byteCount(for: input.count)` bytes.
    static func deflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        _ compression: ArchiveCompression = .automatic
    ) -> Int {
        deflate(input, in: compression.runs(of: input), by: compression, into: output)
    }

    /// As above, with the runs of `input` to deflate and to store given: those of ``ArchiveCompression/runs(of:)``.
    static func deflate(
        _ input: UnsafeRawBufferPointer,
        in runs: [CompressionProbe.Run],
        by compression: ArchiveCompression,
        into output: UnsafeMutableRawBufferPointer,
        engine: Engine = .preferred
    ) -> Int {
        let bound = StoredBlocks.byteCount(for: input.count)
        precondition(input.count <= largestByteCount, "zlib cannot take more than 2³¹ − 1 bytes at once")
        precondition(output.count >= bound, "the output is too small for the input, stored")

        guard let level = compression.level else { return StoredBlocks.write(input, into: output) }
        // A small input is one run, for which no array is made.
        guard input.count > DeflateSettings.largestSmallInput else {
            var stream = StreamOfRuns.Writer(output)
            stream.append(input, isLast: true) { run, space in
                deflateRun(run, into: space, isLast: true, level: level, by: engine)
            }
            return stream.finish()
        }
        return StreamOfRuns.write(input, runs, into: output) { run, space, isLast in
            deflateRun(run, into: space, isLast: isLast, level: level, by: engine)
        }
    }

    /// Deflates all of `input` to blocks without zlib's header and trailer; `nil` if they do not fit.
    private static func deflateRun(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        isLast: Bool,
        level: Int,
        by engine: Engine
    ) -> Int? {
        let isSmall = input.count <= DeflateSettings.largestSmallInput
        #if Libdeflate
            // It always ends the stream. Own code takes no longer for a small input.
            if engine == .libdeflate, isLast, level > 1 || !isSmall {
                return compressors[level].withStream { $0.deflate(input, into: output) }
            }
        #endif
        if level == 1 { return deflateByOwnCode(input, into: output, isLast: isLast) }
        let deflaters = isSmall ? smallDeflaters : largeDeflaters
        return deflaters[level].withStream { $0.deflate(input, into: output, isLast: isLast) }
    }

    /// Inflates one zlib stream that is known to hold exactly `byteCount` bytes.
    ///
    /// Allocates those bytes once, after checking that a stream of this length could hold them at all.
    ///
    /// - Throws: ``InflateError`` if the stream is damaged, has bytes after it, or holds another number of
    ///   bytes.
    package static func inflate(
        _ bytes: [UInt8],
        expecting byteCount: Int,
        limit: Int
    ) throws(InflateError) -> [UInt8] {
        try inflate(prefix: bytes.count, of: bytes, expecting: byteCount, limit: limit)
    }

    /// As ``inflate(_:expecting:limit:)``, of the first `length` bytes, which are not copied first.
    static func inflate(
        prefix length: Int,
        of bytes: [UInt8],
        expecting byteCount: Int,
        limit: Int
    ) throws(InflateError) -> [UInt8] {
        try inflate(from: 0, count: length, of: bytes, expecting: byteCount, limit: limit)
    }

    /// As ``inflate(_:expecting:limit:)``, of the `count` bytes at `offset`, which are not copied first.
    ///
    /// A stream that asks for a preset dictionary is damaged.
    ///
    /// - Precondition: `offset` and `count` are a range in `bytes`.
    static func inflate(
        from offset: Int,
        count: Int,
        of bytes: [UInt8],
        expecting byteCount: Int,
        limit: Int,
        by engine: Engine = .preferred
    ) throws(InflateError) -> [UInt8] {
        try inflate(from: offset, count: count, of: bytes, expecting: byteCount, limit: limit) {
            inflate($0, filling: $1, by: engine)
        }
    }

    /// Checks lengths and allocates for `fill`, which is given the stream and the output to fill exactly, and says
    /// whether it did.
    static func inflate(
        from offset: Int,
        count length: Int,
        of bytes: [UInt8],
        expecting byteCount: Int,
        limit: Int,
        fill: (UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) -> Bool
    ) throws(InflateError) -> [UInt8] {
        try check(from: offset, count: length, of: bytes, expecting: byteCount, limit: limit)
        var isWhole = false
        let archive = [UInt8](filling: byteCount) { output in
            isWhole = bytes.withUnsafeBytes { input in
                fill(UnsafeRawBufferPointer(rebasing: input[offset..<(offset + length)]), output)
            }
            // Bytes that nothing was written to are not initialized, so a damaged stream gives none.
            return isWhole ? byteCount : 0
        }
        guard isWhole else { throw .damaged }
        return archive
    }

    /// As ``inflate(from:count:of:expecting:limit:)``, but the content is given to `body` in pieces, until that returns
    /// `false`. A damaged stream's beginning may have been given before this throws.
    ///
    /// - Parameter dictionary: the preset dictionary, for a stream that asks for one.
    static func inflate(
        from offset: Int,
        count length: Int,
        of bytes: [UInt8],
        dictionary: PresetDictionary? = nil,
        expecting byteCount: Int,
        limit: Int,
        pieces body: ([UInt8]) -> Bool
    ) throws(InflateError) {
        try check(from: offset, count: length, of: bytes, expecting: byteCount, limit: limit)
        let isWhole = bytes.withUnsafeBytes { input in
            let stream = UnsafeRawBufferPointer(rebasing: input[offset..<(offset + length)])
            return inflaters.withStream {
                $0.inflate(stream, dictionary: dictionary?.bytes, expecting: byteCount, pieces: body)
            }
        }
        guard isWhole else { throw .damaged }
    }

    /// Checks lengths before anything is allocated for them.
    private static func check(
        from offset: Int,
        count length: Int,
        of bytes: [UInt8],
        expecting byteCount: Int,
        limit: Int
    ) throws(InflateError) {
        precondition(
            offset >= 0 && length >= 0 && offset <= bytes.count && length <= bytes.count - offset,
            "the stream is not within the bytes"
        )
        guard byteCount >= 0, byteCount / largestRatio <= length else { throw .impossibleLength }
        guard byteCount <= min(limit, largestByteCount), length <= largestByteCount else { throw .tooLarge }
    }

    /// Whether all of `input` is one zlib stream, and its content fills `output` exactly.
    static func inflate(
        _ input: UnsafeRawBufferPointer,
        filling output: UnsafeMutableRawBufferPointer,
        by engine: Engine = .preferred
    ) -> Bool {
        switch engine {
        case .own: inflateByOwnCode(input, filling: output)
        #if Libdeflate
            case .libdeflate: decompressors.withStream { $0.inflate(input, filling: output) }
        #endif
        }
    }

    /// The Adler-32 (as in RFC 1950) of `bytes`, continued from the one of the bytes before them.
    static func adler32(_ bytes: UnsafeRawBufferPointer, continuing checksum: UInt32 = 1) -> UInt32 {
        // Sound: the call is given the buffer's bytes and their count.
        bytes.baseAddress.map { adler32_summed(checksum, $0, bytes.count) } ?? checksum
    }

    /// The CRC-32 (as in RFC 1952) of `bytes`, continued from the one of the bytes before them.
    package static func crc32(_ bytes: UnsafeRawBufferPointer, continuing checksum: UInt32 = 0) -> UInt32 {
        let start = bytes.bindMemory(to: UInt8.self).baseAddress
        guard let start else { return checksum }
        // Sound: both calls are given bytes within the buffer, one part after the other.
        let foldedCount = bytes.count >= 64 && canFold ? bytes.count & ~15 : 0
        let folded = foldedCount > 0 ? crc32_folded(checksum, start, foldedCount) : checksum
        if foldedCount == bytes.count { return folded }
        return UInt32(CZlib.crc32_z(UInt(folded), start + foldedCount, bytes.count - foldedCount))
    }

    private static let canFold = crc32_can_fold()
}
