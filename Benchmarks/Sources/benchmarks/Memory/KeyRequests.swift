import Workloads

/// Keys of 24 bytes, and which of them are asked for in turn.
struct KeyRequests: Sendable {
    static let keyCount = 100_000
    /// A power of two.
    private static let requestCount = 1 << 18

    /// How the requests are distributed, for people.
    let distribution: String
    let keys: [String]
    /// The numbers of the keys that are asked for, and the keys themselves: strings of their own that lie in memory
    /// in this order, so that a key is as near to the processor as one that its caller has just made.
    private let numbers: [UInt32]
    private let requested: [String]

    static func zipf(_ exponent: Double, seed: UInt64) -> KeyRequests {
        KeyRequests(
            distribution: "Zipf \(exponent)",
            trace: SyntheticTrace.zipf(exponent, keys: keyCount, requests: requestCount, seed: seed),
            shufflingBy: seed
        )
    }

    static func uniform(seed: UInt64) -> KeyRequests {
        KeyRequests(
            distribution: "uniform",
            trace: SyntheticTrace.zipf(0, keys: keyCount, requests: requestCount, seed: seed),
            shufflingBy: seed
        )
    }

    private init(distribution: String, trace: Trace, shufflingBy seed: UInt64) {
        self.distribution = distribution
        // Keys that are asked for often must not lie together in memory, nor have been inserted first.
        var generator = SeededGenerator(seed: seed)
        let keys = (0..<Self.keyCount).map { "articles/\(100_000_000_000_000 + $0 * 7)" }
            .shuffled(using: &generator)
        self.keys = keys
        numbers = trace.requests
        requested = trace.requests.map { String(decoding: Array(keys[Int($0)].utf8), as: UTF8.self) }
    }

    /// The key of a request, and its number; requests come again after the last one.
    subscript(request: Int) -> (key: String, number: Int) {
        let index = request & (Self.requestCount - 1)
        return (requested[index], Int(numbers[index]))
    }
}
