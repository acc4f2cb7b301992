import CZlib

/// A zlib deflate stream that begins each input with a preset dictionary, and indexes the dictionary's strings only
/// once.
///
/// Unsafe code, and why it is sound: as in `DeflateStream`. Two `z_stream`s live in one allocation that never
/// moves: the first has the dictionary and takes no input, the second is a copy of it for one input, made by
/// `deflateCopy` and ended within the same call. Both have their memory from `memory`, which outlives them.
///
/// `@unchecked Sendable`: the guard is `StreamPool`, which lends a stream to one caller at a time.
final class PrimedDeflateStream: @unchecked Sendable {
    private let streams: UnsafeMutablePointer<z_stream>
    private let memory = RecycledMemory()

    private var primed: UnsafeMutablePointer<z_stream> { streams }
    private var copy: UnsafeMutablePointer<z_stream> { streams + 1 }

    /// - Precondition: `dictionary` is not empty.
    init(_ settings: DeflateSettings, dictionary: [UInt8]) {
        streams = .allocate(capacity: 2)
        streams.initialize(repeating: z_stream(), count: 2)
        memory.supply(streams)
        var status = deflateInit2_(
            streams,
            settings.level,
            Z_DEFLATED,
            settings.windowBits,
            settings.memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size)
        )
        if status == Z_OK {
            status = deflateSetDictionary(streams, dictionary, UInt32(dictionary.count))
        }
        precondition(status == Z_OK, "zlib could not set a deflate stream up (\(status))")
    }

    deinit {
        deflateEnd(primed)
        streams.deallocate()
    }

    /// Deflates all of `input` into `output`; `nil` if it does not fit.
    ///
    /// - Precondition: both are at most `UInt32.max` bytes; `output` is not empty.
    func deflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
        let status = deflateCopy(copy, primed)
        precondition(status == Z_OK, "zlib could not copy a deflate stream (\(status))")
        defer { deflateEnd(copy) }
        let rest = copy.lending(input, output, to: CZlib.deflate)
        return rest.status == Z_STREAM_END ? output.count - rest.outputByteCount : nil
    }
}
