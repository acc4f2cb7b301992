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
        let bytes = input.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        defer {
            stream.pointee.next_in = nil
            stream.pointee.next_out = nil
        }
        let status = CZlib.inflate(stream, Z_FINISH)
        return status == Z_STREAM_END && stream.pointee.avail_in == 0 && stream.pointee.avail_out == 0
    }
}
