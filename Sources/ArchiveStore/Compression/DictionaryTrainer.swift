/// Builds preset dictionaries from real archives.
///
/// A dictionary is made of whole archives, or their beginnings. Each step chooses the archive with the most strings per
/// byte that other archives have too and no chosen one has. So the dictionary holds the strings that archives share, in
/// many arrangements, and bytes that come once in a cache stay out.
///
/// Chosen from figures: bytes left of an archive, by dictionaries of 4, 8 and 16 KiB from 128 samples; then ms for
/// 8 KiB. Cities are of 433 bytes (393 without a dictionary), articles of 940 (637); mixed are six cities, two
/// articles and two times random bytes (488).
///
///                                        cities           articles         mixed            ms
///     the first samples                  126  115  100    373  357  337    302  297  277    0.1
///     the worst deflated one, next       135  112   87    372  351  325    385  385  383     25
///     segments of 32 bytes (COVER)       117  116  116    345  332  324    284  283  279      3
///     whole samples, as here             115   94   89    368  344  321    286  274  263      3
enum DictionaryTrainer {
    /// The least part of the samples' deflated bytes that a dictionary has to save: see ``saving(of:on:)``.
    static let leastSaving = 0.1

    /// The least part of the bytes which samples take with another dictionary that a new one has to save.
    static let leastGain = 0.03

    /// The most samples that are looked at, spread from the first to the last; fewer if they are long.
    static let largestSampleCount = 128

    /// About how many bytes of samples are looked at.
    static let largestTotal = 64 << 10

    /// Of a longer sample, so many bytes at its start may become part of a dictionary.
    static let largestSample = 2048

    /// zlib finds no shorter strings worth their while after a byte that differs.
    private static let stringLength = 4

    /// Builds a dictionary of at most `byteLimit` bytes, the same for the same samples.
    ///
    /// The dictionary from every other sample is tried on the others; one from all of them is returned.
    ///
    /// - Parameters:
    ///   - samples: Archives as they are deflated.
    ///   - current: The dictionary that the new one is to replace.
    /// - Returns: `nil` if the dictionary saves less than ``leastSaving`` of the other samples, or less than
    ///   ``leastGain`` of the bytes that they take with `current`, or if there are no others.
    /// - Complexity: O(*n*) in the bytes that are looked at, and O(*m*²) in the samples, mostly O(*m*).
    static func train(
        _ samples: [[UInt8]],
        byteLimit: Int = PresetDictionary.largestByteCount,
        replacing current: PresetDictionary? = nil
    ) -> PresetDictionary? {
        let chosen = spread(samples.filter { !$0.isEmpty && $0.count <= PresetDictionary.largestInput })
        let seen = stride(from: 0, to: chosen.count, by: 2).map { chosen[$0] }
        let unseen = stride(from: 1, to: chosen.count, by: 2).map { chosen[$0] }
        let limit = min(byteLimit, PresetDictionary.largestByteCount)
        let trial = PresetDictionary(bytes(from: seen, limit: limit))
        if let current {
            let former = byteCount(of: unseen, with: current)
            let saved = former - byteCount(of: unseen, with: trial)
            guard saved > 0, Double(saved) >= leastGain * Double(former) else { return nil }
        } else {
            guard saving(of: trial, on: unseen) >= leastSaving else { return nil }
        }
        return PresetDictionary(bytes(from: chosen, limit: limit))
    }

    /// The part of the samples' deflated bytes that the dictionary saves: 0.75 if they take a quarter with it; below 0
    /// if they take more; 0 for no samples.
    ///
    /// - Complexity: O(*n*) in the samples' bytes; at most ``largestSampleCount`` are looked at.
    static func saving(of dictionary: PresetDictionary, on samples: [[UInt8]]) -> Double {
        let samples = spread(samples)
        let without = byteCount(of: samples, with: nil)
        return without == 0 ? 0 : 1 - Double(byteCount(of: samples, with: dictionary)) / Double(without)
    }

    /// How many bytes the samples take when they are deflated.
    private static func byteCount(of samples: [[UInt8]], with dictionary: PresetDictionary?) -> Int {
        samples.reduce(0) { sum, sample in
            let bound = StoredBlocks.byteCount(for: sample.count)
            return sum
                + withUnsafeTemporaryAllocation(byteCount: bound, alignment: 1) { output in
                    sample.withUnsafeBytes { input in
                        guard let dictionary else { return Zlib.deflate(input, into: output) }
                        return dictionary.deflate(input, into: output).streamByteCount
                    }
                }
        }
    }

    /// As many samples as are looked at, from everywhere among them.
    private static func spread(_ samples: [[UInt8]]) -> [[UInt8]] {
        let total = samples.reduce(0) { $0 + $1.count }
        guard samples.count > largestSampleCount || total > largestTotal else { return samples }
        let average = max(1, total / samples.count)
        let count = min(samples.count, max(4, min(largestSampleCount, largestTotal / average)))
        return (0..<count).map { samples[$0 * samples.count / count] }
    }

    /// The dictionary's bytes: the most useful sample last, where references to it are shortest.
    private static func bytes(from samples: [[UInt8]], limit: Int) -> [UInt8] {
        let samples = samples.map { $0.prefix(largestSample) }
        let strings = strings(in: samples)
        // In how many samples besides the first a string is, while no chosen one has it.
        // Small numbers, as in `strings(in:)`: the processor's cache has room for all of them.
        var others = [Int16](repeating: -1, count: Int(UInt16.max) + 1)
        for string in strings.joined() { others[Int(string)] += 1 }

        // Scores only fall, so that a sample whose former score is not the best need not be looked at again.
        var scores = [Int](repeating: .max, count: samples.count)
        var latest = [Int](repeating: -1, count: samples.count)
        var pieces: [ArraySlice<UInt8>] = []
        var count = 0
        while count < limit {
            // The first one of those with the best score.
            guard let highest = scores.max(), highest > 0, let best = scores.firstIndex(of: highest) else { break }
            if latest[best] < pieces.count {
                let shared = strings[best].reduce(0) { $0 + Int(others[Int($1)]) }
                // A few bytes more than it has, so that the shortest samples do not win by one string.
                scores[best] = shared * 1024 / (samples[best].count + 16)
                latest[best] = pieces.count
                continue
            }
            for string in strings[best] { others[Int(string)] = 0 }
            scores[best] = 0
            pieces.append(samples[best].prefix(limit - count))
            count += pieces.last?.count ?? 0
        }
        return Array(pieces.reversed().joined())
    }

    /// The hashes of each sample's strings of ``stringLength`` bytes, each once. Two strings may have the same.
    private static func strings(in samples: [ArraySlice<UInt8>]) -> [[UInt16]] {
        // The last sample that has a string.
        var owners = [Int16](repeating: -1, count: Int(UInt16.max) + 1)
        return samples.enumerated().map { index, sample in
            let number = Int16(index)
            var strings: [UInt16] = []
            strings.reserveCapacity(sample.count)
            var word: UInt32 = 0
            for (offset, byte) in sample.enumerated() {
                word = word << 8 | UInt32(byte)
                let string = UInt16(truncatingIfNeeded: (word &* 0x9e37_79b1) >> 16)
                guard offset >= stringLength - 1, owners[Int(string)] != number else { continue }
                owners[Int(string)] = number
                strings.append(string)
            }
            return strings
        }
    }
}
