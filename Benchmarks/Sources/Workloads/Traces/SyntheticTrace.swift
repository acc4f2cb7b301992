import Foundation

/// Workloads that are made, not recorded: the same in every run.
public enum SyntheticTrace {
    /// Independent requests, few keys being asked for often.
    public static func zipf(_ exponent: Double, keys: Int, requests: Int, seed: UInt64) -> Trace {
        var generator = SeededGenerator(seed: seed)
        let distribution = ZipfDistribution(count: keys, exponent: exponent)
        return Trace(
            name: "zipf \(exponent)",
            requests: (0..<requests).map { _ in UInt32(distribution.next(using: &generator)) }
        )
    }

    /// All keys in order, again and again.
    public static func loop(keys: Int, requests: Int) -> Trace {
        Trace(name: "loop", requests: (0..<requests).map { UInt32($0 % keys) })
    }

    /// Zipf 0.99, broken by scans of keys that are never asked for again.
    ///
    /// - Parameter scan: how many keys a scan has; one follows every `4 * scan` requests.
    public static func scanPolluted(keys: Int, requests: Int, scan: Int, seed: UInt64) -> Trace {
        var generator = SeededGenerator(seed: seed)
        let distribution = ZipfDistribution(count: keys, exponent: 0.99)
        var unused = UInt32(keys)
        return Trace(
            name: "zipf 0.99 with scans",
            requests: (0..<requests).map { index in
                guard index % (5 * scan) >= 4 * scan else { return UInt32(distribution.next(using: &generator)) }
                defer { unused += 1 }
                return unused
            }
        )
    }

    /// Zipf 0.99; other keys become the popular ones, all at once, at the start of each phase.
    public static func shifting(keys: Int, requests: Int, phases: Int, seed: UInt64) -> Trace {
        var generator = SeededGenerator(seed: seed)
        let distribution = ZipfDistribution(count: keys, exponent: 0.99)
        return Trace(
            name: "zipf 0.99, shifting",
            requests: (0..<requests).map { index in
                let shift = index * phases / requests * (keys / phases)
                return UInt32((distribution.next(using: &generator) + shift) % keys)
            }
        )
    }
}

/// Ranks from 0, where rank *r* is asked for in proportion to 1 / (*r* + 1)^exponent.
///
/// Exact: a rank is looked up in the table of cumulated shares.
public struct ZipfDistribution: Sendable {
    private let cumulated: [Double]

    /// - Parameters:
    ///   - count: how many ranks there are; at least 1.
    ///   - exponent: how skewed it is; 0 is uniform.
    public init(count: Int, exponent: Double) {
        precondition(count > 0, "a distribution needs at least one rank")
        var sum = 0.0
        cumulated = (0..<count).map { rank in
            sum += pow(Double(rank + 1), -exponent)
            return sum
        }
    }

    /// - Complexity: O(log *n*) in the number of ranks.
    public func next(using generator: inout some RandomNumberGenerator) -> Int {
        let target = Double.random(in: 0..<(cumulated.last ?? 1), using: &generator)
        var lower = 0
        var upper = cumulated.count - 1
        while lower < upper {
            let middle = (lower + upper) / 2
            if cumulated[middle] > target { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}
