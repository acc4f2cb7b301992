import CZlib

extension UnsafeMutablePointer<z_stream> {
    /// The status of a call of zlib, and the bytes that it has left over in the lent buffers.
    struct Rest {
        let status: Int32
        let inputByteCount: Int
        let outputByteCount: Int
    }

    /// Lends both buffers to the stream for one call of zlib that is to use up all of `input`.
    ///
    /// Unsafe code, and why it is sound: the pointers are set and cleared within this call, and bounded by the buffers'
    /// counts. zlib's input pointer is not const by its type, but zlib never writes through it.
    ///
    /// - Precondition: both are at most `UInt32.max` bytes.
    func lending(
        _ input: UnsafeRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        flush: Int32 = Z_FINISH,
        to call: (UnsafeMutablePointer<z_stream>, Int32) -> Int32
    ) -> Rest {
        pointee.next_in = UnsafeMutablePointer<UInt8>(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        pointee.avail_in = UInt32(input.count)
        pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        pointee.avail_out = UInt32(output.count)
        defer {
            pointee.next_in = nil
            pointee.next_out = nil
        }
        let status = call(self, flush)
        return Rest(
            status: status,
            inputByteCount: Int(pointee.avail_in),
            outputByteCount: Int(pointee.avail_out)
        )
    }
}
