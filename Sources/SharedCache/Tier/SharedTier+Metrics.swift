import TypedCache

extension CacheMetrics {
    /// Adds a tier's calls, counts and connections, for as long as the tier is there: see <doc:TierMetrics>. Does nothing if it is
    /// part of these metrics already. A hit in memory takes no longer than without.
    public func add(_ tier: SharedTier) { add(tier as any MetricsSource) }
}

/// How long a tier's calls have taken, in buckets, since it was opened.
public struct SharedLatency: Sendable, Hashable {
    /// The buckets' inclusive upper bounds, rising; one more bucket has no bound.
    public let bounds: [Duration]
    /// How many calls each bucket has, one more than there are bounds.
    public let counts: [Int]
    /// The time of all calls together.
    public let sum: Duration

    /// How many calls there were.
    public var count: Int { counts.reduce(0, +) }
}

extension SharedTier {
    /// How long the server's answers took, of all calls of this tier's caches that were answered. A call may be several
    /// commands. Calls without an answer are ``SharedStatistics/timeouts``.
    public var latency: SharedLatency {
        let counts = engine.pace.latency.counts
        return SharedLatency(bounds: LatencyHistogram.bounds, counts: counts.buckets, sum: counts.sum)
    }
}

extension SharedTier: MetricsSource {
    package var metrics: [MetricsFamily] {
        let labels = [(name: "prefix", value: name), (name: "server", value: node)]
        return TierMetrics(labels: labels).families(of: self)
    }

    /// The prefix of the URL.
    private var name: String { prefix.split(separator: ":").last.map(String.init) ?? prefix }
}

/// A tier's figures as metrics.
private struct TierMetrics {
    let labels: MetricsFamily.Labels

    func families(of tier: SharedTier) -> [MetricsFamily] {
        let statistics = tier.statistics
        return [
            MetricsFamily(
                "server_operation_duration_seconds",
                .histogram,
                help: "How long the answers of servers took.",
                unit: "seconds",
                samples: [(labels, .histogram(tier.engine.pace.latency))]
            )
        ] + calls(statistics) + entries(statistics) + loads(statistics) + states(of: tier)
    }

    private func calls(_ statistics: SharedStatistics) -> [MetricsFamily] {
        [
            counter("server_timeouts", help: "Calls without an answer in time.", statistics.timeouts),
            counter(
                "server_redirects",
                help: "Commands that went to another node of a cluster, later, or again.",
                by: "kind",
                [
                    ("moved", statistics.redirectsMoved), ("ask", statistics.redirectsAsked),
                    ("tryagain", statistics.commandsDelayed), ("repeated", statistics.commandsRepeated),
                ]
            ),
            counter(
                "server_io_bytes",
                help: "Bytes of commands, answers and messages.",
                unit: "bytes",
                by: "direction",
                [("transmit", statistics.bytesSent), ("receive", statistics.bytesReceived)]
            ),
            counter("server_epochs", help: "How often servers began to tell of changes.", statistics.epochs),
        ]
    }

    private func entries(_ statistics: SharedStatistics) -> [MetricsFamily] {
        [
            counter(
                "server_fetches",
                help: "Entries that servers were asked for.",
                by: "result",
                [
                    ("hit", statistics.hits), ("replica_hit", statistics.replicaHits), ("miss", statistics.misses),
                ]
            ),
            counter(
                "server_compares",
                help: "Entries near that were doubtful: still the same, replaced, or given without an answer.",
                by: "result",
                [
                    ("verified", statistics.unchanged), ("replaced", statistics.compares - statistics.unchanged),
                    ("unverified", statistics.unverifiedHits),
                ]
            ),
            counter(
                "server_invalidations",
                help: "Messages about changed entries.",
                by: "by",
                [("others", statistics.invalidations), ("own", statistics.ownEchoes)]
            ),
            counter("server_debts", help: "Changes that were not acknowledged.", statistics.debts),
        ]
    }

    private func loads(_ statistics: SharedStatistics) -> [MetricsFamily] {
        [
            counter(
                "server_leases",
                help: "Leases of loads: taken, had by another load, ended before the value was saved.",
                by: "result",
                [
                    ("taken", statistics.leasesWon), ("waited", statistics.leasesWaited),
                    ("lost", statistics.leasesLost),
                ]
            )
        ]
    }

    private func states(of tier: SharedTier) -> [MetricsFamily] {
        let states = tier.nodes.flatMap { node in
            SharedNodeState.Condition.all.map { condition -> (MetricsFamily.Labels, MetricsFamily.Value) in
                let isPresent = node.condition == condition
                return (labels + [("node", node.node), ("state", "\(condition)")], .count(isPresent ? 1 : 0))
            }
        }
        return [
            MetricsFamily(
                "server_owed_keys",
                .gauge,
                help: "Keys whose removal servers have not acknowledged.",
                samples: [(labels, .count(tier.owedKeyCount))]
            ),
            MetricsFamily(
                "server_state",
                .gauge,
                help: "1 for the state of each server, 0 for the other states.",
                samples: states
            ),
        ]
    }

    private func counter(_ name: String, help: String, _ count: Int) -> MetricsFamily {
        MetricsFamily(name, .counter, help: help, samples: [(labels, .count(count))])
    }

    private func counter(
        _ name: String,
        help: String,
        unit: String? = nil,
        by label: String,
        _ counts: [(String, Int)]
    ) -> MetricsFamily {
        let samples = counts.map { (labels + [(name: label, value: $0)], MetricsFamily.Value.count($1)) }
        return MetricsFamily(name, .counter, help: help, unit: unit, samples: samples)
    }
}
