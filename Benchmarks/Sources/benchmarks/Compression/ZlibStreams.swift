import CSystemZlib
import Foundation

/// zlib by hand: at its fastest level, with state that is set up once, or each time by its own convenience calls.
final class ZlibStreams {
    private let deflating: UnsafeMutablePointer<z_stream>
    private let inflating: UnsafeMutablePointer<z_stream>

    init() {
        deflating = .allocate(capacity: 1)
        deflating.initialize(to: z_stream())
        inflating = .allocate(capacity: 1)
        inflating.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        let status = (
            deflateInit_(deflating, Z_BEST_SPEED, ZLIB_VERSION, size), inflateInit_(inflating, ZLIB_VERSION, size)
        )
        precondition(status == (Z_OK, Z_OK), "zlib could not be set up")
    }

    deinit {
        deflateEnd(deflating)
        inflateEnd(inflating)
        deflating.deallocate()
        inflating.deallocate()
    }

    func deflate(_ input: Data) throws -> [UInt8] {
        deflateReset(deflating)
        return try Self.bytes(capacity: Int(deflateBound(deflating, UInt(input.count)))) { output in
            try input.withUnsafeBytes { input in
                try Self.run(deflating, from: input, to: output) { CSystemZlib.deflate($0, Z_FINISH) }
            }
        }
    }

    func inflate(_ input: ArraySlice<UInt8>, count: Int) throws -> Data {
        inflateReset(inflating)
        var data = Data(count: count)
        let filled = try data.withUnsafeMutableBytes { output in
            try input.withUnsafeBytes { input in
                try Self.run(inflating, from: input, to: output) { CSystemZlib.inflate($0, Z_FINISH) }
            }
        }
        guard filled == count else { throw BenchmarkError("inflated to \(filled) bytes instead of \(count)") }
        return data
    }

    /// Compresses by `compress2`, which sets up its state each time.
    static func compress(_ input: some ContiguousBytes & Collection, level: Int32) throws -> [UInt8] {
        try bytes(capacity: Int(compressBound(UInt(input.count)))) { output in
            var count = UInt(output.count)
            let status = input.withUnsafeBytes { input in
                compress2(
                    output.bindMemory(to: UInt8.self).baseAddress,
                    &count,
                    input.bindMemory(to: UInt8.self).baseAddress,
                    UInt(input.count),
                    level
                )
            }
            guard status == Z_OK else { throw BenchmarkError("compress2 failed with \(status)") }
            return Int(count)
        }
    }

    /// Inflates by `uncompress`, which sets up its state each time.
    static func expand(_ input: ArraySlice<UInt8>, count: Int) throws -> Data {
        var data = Data(count: count)
        var filled = UInt(count)
        let status = data.withUnsafeMutableBytes { output in
            input.withUnsafeBytes { input in
                uncompress(
                    output.bindMemory(to: UInt8.self).baseAddress,
                    &filled,
                    input.bindMemory(to: UInt8.self).baseAddress,
                    UInt(input.count)
                )
            }
        }
        guard status == Z_OK, filled == count else { throw BenchmarkError("uncompress failed with \(status)") }
        return data
    }

    private static func bytes(
        capacity: Int,
        _ fill: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            count = try fill(UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// - Returns: how many bytes there are in `output`.
    private static func run(
        _ stream: UnsafeMutablePointer<z_stream>,
        from input: UnsafeRawBufferPointer,
        to output: UnsafeMutableRawBufferPointer,
        work: (UnsafeMutablePointer<z_stream>) -> Int32
    ) throws -> Int {
        // zlib's input pointer is not const by its type, but zlib never writes through it.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(output.count)
        let status = work(stream)
        guard status == Z_STREAM_END else { throw BenchmarkError("zlib failed with \(status)") }
        return output.count - Int(stream.pointee.avail_out)
    }
}
