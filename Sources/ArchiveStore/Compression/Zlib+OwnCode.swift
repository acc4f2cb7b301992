import CDeflate
import CZlib

/// zlib streams by the package's own code, see `CDeflate`.
///
/// Unsafe code, and why it is sound: C is given whole buffers with their counts, and reads and writes within these; its
/// argument stands beside it.
extension Zlib {
    private static let deflaters = StreamPool(capacity: 8) { OwnDeflater() }

    /// Deflates all of `input` to blocks without zlib's header and trailer, about as far as zlib's level 1; `nil` if they do
    /// not fit.
    ///
    /// - Parameter isLast: whether the stream ends with `input`; else the output ends with an empty stored block, and
    ///   more blocks can follow.
    static func deflateByOwnCode(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        isLast: Bool = true
    ) -> Int? {
        deflaters.withStream { $0.deflate(input, into: output, isLast: isLast) }
    }

    /// Whether all of `input` is one zlib stream, with the dictionary if one is given and without if not, and its content
    /// fills `output` exactly.
    static func inflateByOwnCode(
        _ input: UnsafeRawBufferPointer,
        dictionary: PresetDictionary? = nil,
        filling output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let headByteCount = dictionary == nil ? 2 : 6
        let end = input.count - 4
        guard end > headByteCount else { return false }
        let fields = ByteReader(input)
        guard
            // Deflate with a window of at most 2^15; both bytes together are a multiple of 31.
            input[0] & 0x0f == Z_DEFLATED,
            input[0] >> 4 <= 7,
            fields.number(at: 0, as: UInt16.self) % 31 == 0,
            // FDICT, and the dictionary that is asked for.
            input[1] & 0x20 == (dictionary == nil ? 0 : 0x20),
            dictionary.map({ fields.number(at: 2) == $0.identifier }) ?? true
        else { return false }
        let data = UnsafeRawBufferPointer(rebasing: input[headByteCount..<end])
        return inflate(bare: data, dictionary: dictionary?.bytes ?? [], filling: output)
            && fields.number(at: end) == adler32(UnsafeRawBufferPointer(output))
    }

    /// Whether all of `data` is DEFLATE data without header and trailer, and its content fills `output` exactly.
    static func inflate(
        bare data: UnsafeRawBufferPointer,
        dictionary: [UInt8],
        filling output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        inflate_whole(dictionary, dictionary.count, data.baseAddress, data.count, output.baseAddress, output.count)
    }
}
