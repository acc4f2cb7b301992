import CZlib

/// A zlib deflate stream that is reset, not rebuilt, between inputs.
///
/// Unsafe code, and why it is sound: zlib's state points back at its `z_stream`, so that lives in one heap
/// allocation of its own that never moves, made in `init` and freed in `deinit` by the same object. The
/// pointers into input and output are set and cleared within one call and bounded by the buffers' counts.
///
/// `@unchecked Sendable`: the guard is `StreamPool`, which lends a stream to one caller at a time.
final class DeflateStream: @unchecked Sendable {
    private let stream: UnsafeMutablePointer<z_stream>

    init(_ settings: DeflateSettings) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream,
            settings.level,
            Z_DEFLATED,
            settings.windowBits,
            settings.memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        // The settings are constants that zlib takes, so only memory can be lacking, as for any Swift object.
        precondition(status == Z_OK, "zlib could not set a deflate stream up (\(status))")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Deflates all of `input` into `output`; `nil` if it does not fit.
    ///
    /// - Parameter isLast: whether the stream ends with `input`; else the output ends with an empty stored block, and
    ///   more blocks can follow.
    /// - Precondition: both are at most `UInt32.max` bytes; `output` is not empty.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        isLast: Bool = true
    ) -> Int? {
        deflateReset(stream)
        let rest = stream.lending(input, output, flush: isLast ? Z_FINISH : Z_SYNC_FLUSH, to: CZlib.deflate)
        // Where a flush fills the output to its end, there may be more of it.
        let isWhole = isLast ? rest.status == Z_STREAM_END : rest.status == Z_OK && rest.outputByteCount > 0
        return isWhole ? output.count - rest.outputByteCount : nil
    }
}
