import CDeflate
import Synchronization

/// Bytes that small, alike archives are deflated against: a preset dictionary (RFC 1950 § 2.2, FDICT).
///
///     78 xx                     deflate, window, FDICT set
///     DICTID                    Adler-32 of the dictionary, big-endian
///     DEFLATE data              which may refer to the dictionary as if it came before
///     Adler-32                  of the content, big-endian
///
/// Every function may be called from any thread.
///
/// Inputs of up to 4 KiB are deflated by the package's own code (``DictionaryStrings``), whose streams every zlib reads;
/// longer ones gain less than a tenth by a dictionary.
///
/// Figures for cities of 433 bytes: bytes left, µs to deflate; then µs to inflate the same streams, by the package and by
/// zlib 1.2.13. Own code against a dictionary of whole archives, tried on other archives, on a busy 2-vCPU machine;
/// zlib's bytes at levels 1 and 6.
///
///     dictionary | bytes  µs    zlib 1, 6    inflate
///          4 KiB | 78.8   1.9   78.5  77.1   0.36  0.66
///          8 KiB | 74.6   1.5   74.7  73.1   0.29  0.52
///         16 KiB | 70.9   1.6   71.9  69.2   0.28  0.56
///         28 KiB | 67.9   1.8   69.8  66.6   0.28  1.30
///
/// So 16 KiB: each segment and the index have a copy of the dictionary, which twice as many bytes would not earn.
final class PresetDictionary: Sendable {
    /// The most bytes that pay, see above.
    static let largestByteCount = 16 << 10

    /// The most bytes that a dictionary takes where it is stored.
    static let largestStoredByteCount = StoredBlocks.byteCount(for: largestByteCount)

    /// Inputs of more bytes are deflated without the dictionary.
    static let largestInput = SMALL_DEFLATE_LARGEST_INPUT

    let bytes: [UInt8]

    /// The Adler-32 of the bytes, which a stream names its dictionary by.
    let identifier: UInt32

    /// Made by the first deflate: it takes several times the memory of the bytes, and most dictionaries only inflate.
    private let indexedStrings = AtomicLazyReference<DictionaryStrings>()

    /// - Parameter bytes: At most 2³¹ − 1; no stream refers to more than the last 32 KiB.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        identifier = bytes.withUnsafeBytes { Zlib.adler32($0) }
    }

    /// The ``stored`` bytes, once they were asked for: each index that is written has them.
    private let deflatedBytes = AtomicLazyReference<DeflatedBytes>()

    private final class DeflatedBytes: Sendable {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
    }

    /// The bytes as a zlib stream, as segments and indexes have them: dictionaries of alike archives shrink to a sixth.
    var stored: [UInt8] {
        (deflatedBytes.load() ?? deflatedBytes.storeIfNil(DeflatedBytes(deflated()))).bytes
    }

    private func deflated() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: StoredBlocks.byteCount(for: bytes.count)) { output, count in
            let output = UnsafeMutableRawBufferPointer(output)
            count = bytes.withUnsafeBytes { Zlib.deflate($0, into: output, .automatic) }
        }
    }

    /// The bytes that were ``stored``; `nil` if they are not so many, or too many for a dictionary.
    static func bytes(stored: [UInt8], byteCount: Int) -> [UInt8]? {
        let result = Result { () throws(InflateError) in
            try Zlib.inflate(stored, expecting: byteCount, limit: largestByteCount)
        }
        guard case .success(let bytes) = result else { return nil }
        return bytes
    }

    /// The result of deflating an archive.
    struct Deflated {
        /// Whether it is DEFLATE data with the dictionary, a zlib stream without its header and trailer. Else it is a whole
        /// zlib stream without a dictionary.
        let isBare: Bool
        let byteCount: Int

        static let nothing = Deflated(isBare: false, byteCount: 0)

        /// How long the zlib stream of it is.
        var streamByteCount: Int { isBare ? byteCount + headByteCount + trailerByteCount : byteCount }
    }

    private static let headByteCount = 6
    private static let trailerByteCount = 4

    /// Deflates `input` to the start of `output`.
    ///
    /// Input that is too long to profit is deflated without the dictionary; input that does not shrink is stored.
    ///
    /// - Precondition: `output` has room for `StoredBlocks.byteCount(for: input.count)` bytes.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        _ compression: ArchiveCompression = .automatic
    ) -> Deflated {
        guard let level = compression.level, input.count <= Self.largestInput, !bytes.isEmpty else {
            return Deflated(isBare: false, byteCount: Zlib.deflate(input, into: output, compression))
        }
        let bound = StoredBlocks.byteCount(for: input.count)
        precondition(output.count >= bound, "the output is too small for the input, stored")
        let target = UnsafeMutableRawBufferPointer(rebasing: output[..<input.count])
        let strings = indexedStrings.load() ?? indexedStrings.storeIfNil(DictionaryStrings(bytes))
        if let count = strings.deflate(input, into: target, level: level) {
            return Deflated(isBare: true, byteCount: count)
        }
        return Deflated(isBare: false, byteCount: StoredBlocks.write(input, into: output))
    }

    /// The zlib stream of which this is the DEFLATE data, without header and trailer.
    ///
    /// - Parameter content: the inflated bytes.
    func stream(ofBare bare: ArraySlice<UInt8>, content: [UInt8]) -> [UInt8] {
        // The lowest level, with FDICT: both bytes together are a multiple of 31.
        var stream: [UInt8] = [0x78, 0x3F]
        stream.append(bigEndian: identifier)
        stream += bare
        stream.append(bigEndian: content.withUnsafeBytes { Zlib.adler32($0) })
        return stream
    }

    /// Inflates DEFLATE data, a stream with this dictionary without its header and trailer. All else is as for
    /// ``inflate(from:count:of:expecting:limit:)``; without the trailer, nothing tells data that was changed.
    func inflateBare(
        from offset: Int,
        count: Int,
        of bytes: [UInt8],
        expecting byteCount: Int,
        limit: Int
    ) throws(InflateError) -> [UInt8] {
        try Zlib.inflate(from: offset, count: count, of: bytes, expecting: byteCount, limit: limit) {
            Zlib.inflate(bare: $0, dictionary: self.bytes, filling: $1)
        }
    }

    /// Inflates the zlib stream at `offset` that is known to hold exactly `byteCount` bytes, with this
    /// dictionary if it asks for one.
    ///
    /// Allocates those bytes once, after checking that a stream of this length could hold them at all.
    ///
    /// - Throws: ``InflateError`` if the stream is damaged, asks for another dictionary, has bytes after it, or
    ///   holds another number of bytes.
    /// - Precondition: `offset` and `count` are a range in `bytes`.
    func inflate(
        from offset: Int,
        count: Int,
        of bytes: [UInt8],
        expecting byteCount: Int,
        limit: Int
    ) throws(InflateError) -> [UInt8] {
        try Zlib.inflate(from: offset, count: count, of: bytes, expecting: byteCount, limit: limit) {
            input,
            output in
            // Without FDICT it is a stream as any other.
            guard input.count >= 2, input[1] & 0x20 != 0 else { return Zlib.inflate(input, filling: output) }
            return Zlib.inflateByOwnCode(input, dictionary: self, filling: output)
        }
    }
}
