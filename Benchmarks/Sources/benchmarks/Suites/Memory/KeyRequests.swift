import Workloads

/// Keys of 24 bytes, and which of them are asked for in turn.
struct KeyRequests: Sendable {
    static let keyCount = 100_000

    /// How the requests are distributed, for people.
    let distribution: String
    let keys: [String]
    private let indices: [UInt32]

    static func zipf(_ exponent: Double, seed: UInt64) -> KeyRequests {
        KeyRequests(
            distribution: "Zipf \(exponent)",
            trace: SyntheticTrace.zipf(exponent, keys: keyCount, requests: 1 << 19, seed: seed),
            shufflingBy: seed
        )
    }

    static func uniform(seed: UInt64) -> KeyRequests {
        KeyRequests(
            distribution: "uniform",
            trace: SyntheticTrace.zipf(0, keys: keyCount, requests: 1 << 19, seed: seed),
            shufflingBy: seed
        )
    }

    private init(distribution: String, trace: Trace, shufflingBy seed: UInt64) {
        self.distribution = distribution
        // What is asked for often must not lie together in memory, nor have been inserted first.
        var generator = SeededGenerator(seed: seed)
        keys = (0..<Self.keyCount).map { "articles/\(1_000_000_000_000_00 + $0 * 7)" }.shuffled(using: &generator)
        indices = trace.requests
    }

    /// The key of a request, and its number; requests come again after the last one.
    subscript(request: Int) -> (key: String, number: Int) {
        let number = Int(indices[request & (indices.count - 1)])
        return (keys[number], number)
    }
}
