import CZlib

/// Bytes that small, alike archives are deflated against: a preset dictionary (RFC 1950 § 2.2, FDICT).
///
///     78 xx                     deflate, window, FDICT set
///     DICTID                    Adler-32 of the dictionary, big-endian
///     DEFLATE data              which may refer to the dictionary as if it came before
///     Adler-32                  of the content, big-endian
///
/// Every function may be called from any thread.
///
/// Figures: bytes left, µs to deflate, µs to inflate; dictionaries of `DictionaryTrainer` from 128 samples, tried
/// on other archives; zlib 1.2.13, a 2-vCPU machine.
///
///     dictionary | cities, 433 B       articles, 940 B
///           none | 393  20.4  2.8      637  26.2  6.4
///          1 KiB | 148  10.7  1.1      397  19.9  5.7
///          2 KiB | 137  10.4  1.1      387  18.7  5.4
///          4 KiB | 116   9.6  1.0      367  17.8  5.2
///          8 KiB |  95   9.1  0.9      345  17.0  5.1
///         16 KiB |  89  10.0  1.1      325  17.3  4.9
///         32 KiB |  87   9.6  1.5      314  16.2  5.0
///
/// So at most 8 KiB, for which a window of 2^14 suffices; a stream with it takes 170 KiB. Setting the dictionary
/// each time instead of copying a stream that has it: 10.5 µs for 1 KiB, 18 for 8, 50 for 32.
///
/// Articles of 1,940 bytes shrink to 740 instead of 1,083, of 3,940 to 1,652 instead of 1,903, in less time; for
/// those of 7,940 it is less than a tenth. So inputs of up to 4 KiB.
final class PresetDictionary: Sendable {
    /// The most bytes that pay, see above.
    static let largestByteCount = 8 << 10

    /// Inputs of more bytes are deflated without the dictionary.
    static let largestInput = 4 << 10

    let bytes: [UInt8]

    /// The Adler-32 of the bytes, which a stream names its dictionary by.
    let identifier: UInt32

    private let deflaters: LevelPools<PrimedDeflateStream>
    private static let inflaters = StreamPool(capacity: 8) { RawInflateStream() }

    /// - Parameter bytes: At most 2³¹ − 1; no stream refers to more than the last 32 KiB.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        identifier = bytes.withUnsafeBytes { Zlib.adler32($0) }
        deflaters = LevelPools(capacity: 4) { level in
            let settings = DeflateSettings.primed(level: level, dictionaryByteCount: bytes.count)
            return PrimedDeflateStream(settings, dictionary: bytes)
        }
    }

    /// Deflates `input` to the start of `output` and returns how many bytes it took there.
    ///
    /// Input that is too long to profit is deflated without the dictionary; input that does not shrink is stored.
    ///
    /// - Precondition: `output` has room for `StoredBlocks.byteCount(for: input.count)` bytes.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        _ compression: ArchiveCompression = .automatic
    ) -> Int {
        guard let level = compression.level, input.count <= Self.largestInput, !bytes.isEmpty else {
            return Zlib.deflate(input, into: output, compression)
        }
        let bound = StoredBlocks.byteCount(for: input.count)
        precondition(output.count >= bound, "the output is too small for the input, stored")
        let target = UnsafeMutableRawBufferPointer(rebasing: output[..<(bound - 1)])
        return deflaters[level].withStream { $0.deflate(input, into: target) }
            ?? StoredBlocks.write(input, into: output)
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
            return self.inflate(input, filling: output)
        }
    }

    /// Whether all of `input` is one zlib stream with this dictionary, and its content fills `output` exactly.
    private func inflate(_ input: UnsafeRawBufferPointer, filling output: UnsafeMutableRawBufferPointer) -> Bool {
        let fields = ByteReader(input)
        guard
            input.count > 10,
            // Deflate with a window of at most 2^15; both bytes together are a multiple of 31.
            input[0] & 0x0f == Z_DEFLATED,
            input[0] >> 4 <= 7,
            fields.number(at: 0, as: UInt16.self) % 31 == 0,
            fields.number(at: 2) == identifier
        else { return false }
        let end = input.count - 4
        let data = UnsafeRawBufferPointer(rebasing: input[6..<end])
        guard Self.inflaters.withStream({ $0.inflate(data, dictionary: bytes, filling: output) }) else {
            return false
        }
        return fields.number(at: end) == Zlib.adler32(UnsafeRawBufferPointer(output))
    }
}
