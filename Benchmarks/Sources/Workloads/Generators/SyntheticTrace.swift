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
