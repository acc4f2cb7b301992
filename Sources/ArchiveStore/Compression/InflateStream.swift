import CZlib

/// A zlib inflate stream that is reset, not rebuilt, between inputs.
///
/// Unsafe code, and why it is sound: as in `DeflateStream`. zlib itself bounds every access by `avail_in` and
/// `avail_out`, which are the buffers' counts, whatever the input says.
///
/// `@unchecked Sendable`: the guard is `StreamPool`, which lends a stream to one caller at a time.
final class InflateStream: @unchecked Sendable {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib could not set an inflate stream up (\(status))")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Whether all of `input` is one zlib stream whose content fills `output` exactly.
    ///
    /// - Precondition: both are at most `UInt32.max` bytes; `output` has a base address.
    func inflate(_ input: UnsafeRawBufferPointer, filling output: UnsafeMutableRawBufferPointer) -> Bool {
        inflateReset(stream)
        let rest = stream.lending(input, output, to: CZlib.inflate)
        return rest.status == Z_STREAM_END && rest.inputByteCount == 0 && rest.outputByteCount == 0
    }
}
