/// Whether a part of a large archive is worth deflating: whether samples of it are.
///
/// Deflating noise takes as long as deflating text, and writing it to a file a tenth of that. Chosen from figures: the
/// fraction that is left of each part of 131,070 bytes if all is deflated, and of samples; the last three lines in µs;
/// zlib 1.2.13, level 1, a busy 2-vCPU machine.
///
///                                    all      4 × 256 B   8 × 256 B   4 × 1 KiB
///     JSON                          0.20      0.38        0.32        0.26
///     executable code               0.35      0.59        0.53        0.48
///     binary property list          0.56      0.67        0.63        0.60
///     noise and JSON by 4 KiB       0.64      0.78        0.74        0.64
///     bitmap with noise             0.70      0.77        0.77        0.73
///     noise in base 64              0.77      0.79        0.77        0.77
///     PNG                           0.80      0.90        0.87        0.87
///     random walk, Float32          0.83      0.89        0.87        0.85
///     noise of 7 bits               0.88      0.91        0.89        0.89
///     sound, 16 bits                0.95      1.01        0.98        0.99
///     numbers 0 to 1, Float64       0.95      1.00        0.97        0.97
///     JPEG                          0.99      1.01        1.01        0.98
///     noise, gzip                   1.00      1.01        1.01        1.00
///     noise of 3,000 B, each twice  0.52      1.01        1.01        1.00
///     time for JSON                  804      48          30          42
///     time for PNG                  1978      61          56          108
///     time for noise                2091      62          53          113
///
/// So eight samples of 256 bytes, of parts of 262,140 bytes, and at least a sixteenth must be saved. Strings that come
/// again only after more bytes than a sample has are not seen, as in the last kind of noise.
enum CompressionProbe {
    /// Shorter inputs are deflated without a probe: deflating takes less than a millisecond, and a probe would be a
    /// good part of that.
    static let leastInput = 64 << 10

    /// How many bytes are deflated or stored together. A multiple of the largest stored block, so that dividing an
    /// input adds no blocks.
    static let partByteCount = 4 * StoredBlocks.largestBlock

    private static let sampleCount = 8
    private static let sampleByteCount = 256

    /// A range of an input, which is deflated or stored as a whole.
    struct Run: Equatable {
        var range: Range<Int>
        let shrinks: Bool
    }

    /// Divides an input into parts worth deflating and parts that are not: runs one after another, of either kind in
    /// turn.
    ///
    /// Every run but the last is a multiple of ``partByteCount`` long; an empty input is one run.
    static func runs(of input: UnsafeRawBufferPointer) -> [Run] {
        guard input.count >= leastInput else { return [Run(range: 0..<input.count, shrinks: true)] }
        var runs: [Run] = []
        var start = 0
        while start < input.count {
            // The last part takes in a rest that is too short for a part of its own.
            let end = input.count - start < 2 * partByteCount ? input.count : start + partByteCount
            let shrinks = shrinks(UnsafeRawBufferPointer(rebasing: input[start..<end]))
            if let last = runs.last, last.shrinks == shrinks {
                runs[runs.count - 1].range = last.range.lowerBound..<end
            } else {
                runs.append(Run(range: start..<end, shrinks: shrinks))
            }
            start = end
        }
        return runs
    }

    /// Whether samples from everywhere in a part shrink by a sixteenth.
    ///
    /// - Precondition: the part has at least all samples' bytes.
    private static func shrinks(_ part: UnsafeRawBufferPointer) -> Bool {
        let byteCount = sampleCount * sampleByteCount
        return withUnsafeTemporaryAllocation(byteCount: 2 * byteCount, alignment: 1) { buffer in
            let samples = UnsafeMutableRawBufferPointer(rebasing: buffer[..<byteCount])
            for index in 0..<sampleCount {
                let start = (part.count - sampleByteCount) * index / (sampleCount - 1)
                let sample = UnsafeRawBufferPointer(rebasing: part[start..<(start + sampleByteCount)])
                UnsafeMutableRawBufferPointer(rebasing: samples[(index * sampleByteCount)...]).copyMemory(
                    from: sample
                )
            }
            let output = UnsafeMutableRawBufferPointer(rebasing: buffer[byteCount...].prefix(byteCount * 15 / 16))
            return Zlib.deflateByOwnCode(UnsafeRawBufferPointer(samples), into: output) != nil
        }
    }
}
