import CZlib

/// zlib by its own calls, as judge of the package's code.
enum ZlibAlone {
    /// How a stream is made.
    struct Settings: CustomStringConvertible {
        var level: Int32 = 6
        var windowBits: Int32 = 15
        var memoryLevel: Int32 = 8
        var strategy: Int32 = Z_DEFAULT_STRATEGY
        /// After how many bytes the stream is flushed, and how.
        var flushes: [(count: Int, kind: Int32)] = []

        var description: String {
            "level \(level), window \(windowBits), memory \(memoryLevel), strategy \(strategy), flushes \(flushes)"
        }
    }

    /// A stream of `bytes`; DEFLATE data without header and trailer if the window's bits are negative.
    static func deflate(_ bytes: [UInt8], _ settings: Settings, dictionary: [UInt8] = []) -> [UInt8] {
        var z = z_stream()
        let status = deflateInit2_(
            &z,
            settings.level,
            Z_DEFLATED,
            settings.windowBits,
            settings.memoryLevel,
            settings.strategy,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        precondition(status == Z_OK, "zlib refuses \(settings)")
        defer { deflateEnd(&z) }
        if !dictionary.isEmpty { deflateSetDictionary(&z, dictionary, UInt32(dictionary.count)) }
        var bytes = bytes
        // Flushes take some bytes each, and empty blocks of codes of their own a few more.
        var output = [UInt8](repeating: 0, count: 2 * bytes.count + 64 * settings.flushes.count + 1_000)
        bytes.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                z.next_in = input.baseAddress
                z.next_out = output.baseAddress
                z.avail_out = UInt32(output.count)
                var left = input.count
                for flush in settings.flushes {
                    let count = min(flush.count, left)
                    z.avail_in = UInt32(count)
                    CZlib.deflate(&z, flush.kind)
                    left -= count
                }
                z.avail_in += UInt32(left)
                precondition(CZlib.deflate(&z, Z_FINISH) == Z_STREAM_END, "the output is too small")
            }
        }
        return Array(output[..<Int(z.total_out)])
    }

    /// The content of a stream; `nil` if it is refused, has more than `limit` bytes, or bytes follow it.
    ///
    /// - Parameter windowBits: negative for DEFLATE data without header and trailer.
    static func inflate(_ stream: [UInt8], dictionary: [UInt8] = [], limit: Int, windowBits: Int32 = 15) -> [UInt8]?
    {
        var z = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(&z, windowBits, ZLIB_VERSION, size) == Z_OK else { return nil }
        defer { inflateEnd(&z) }
        func setDictionary() -> Int32 { inflateSetDictionary(&z, dictionary, UInt32(dictionary.count)) }
        if windowBits < 0, !dictionary.isEmpty, setDictionary() != Z_OK { return nil }
        var stream = stream
        var output = [UInt8](repeating: 0, count: limit + 1)
        let status = stream.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output -> Int32 in
                z.next_in = input.baseAddress
                z.avail_in = UInt32(input.count)
                z.next_out = output.baseAddress
                z.avail_out = UInt32(output.count)
                let status = CZlib.inflate(&z, Z_FINISH)
                guard status == Z_NEED_DICT else { return status }
                return setDictionary() == Z_OK ? CZlib.inflate(&z, Z_FINISH) : Z_DATA_ERROR
            }
        }
        guard status == Z_STREAM_END, z.avail_in == 0, z.total_out <= limit else { return nil }
        return Array(output[..<Int(z.total_out)])
    }
}
