import CDeflate

/// zlib's `compress2` as it is: a new stream for each call.
enum ZlibCompression {
    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(compressBound(uLong(bytes.count)))) { buffer, count in
            var length = uLong(buffer.count)
            let status = compress2(buffer.baseAddress, &length, bytes, uLong(bytes.count), level)
            precondition(status == Z_OK, "compress2 fails only without memory")
            count = Int(length)
        }
    }
}
