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
    /// - Precondition: both are at most `UInt32.max` bytes; `output` is not empty.
    func deflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
        deflateReset(stream)
        // zlib's input pointer is not const by its type, but zlib never writes through it.
        let bytes = input.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        defer {
            stream.pointee.next_in = nil
            stream.pointee.next_out = nil
        }
        guard CZlib.deflate(stream, Z_FINISH) == Z_STREAM_END else { return nil }
        return output.count - Int(stream.pointee.avail_out)
    }
}
