import BenchmarkKit
import Foundation
import Workloads

/// How many requests memory answers, beside known policies and the best that is possible.
struct HitRatioSuite: Suite {
    static let name = "hit-ratio"
    static let summary = "requests answered from memory, beside known eviction policies"

    /// In quick runs, only traces of up to so many requests.
    private static let quickRequestCount = 140_000

    func run(_ context: Context) throws {
        for trace in Self.syntheticTraces(context) {
            for capacity in [100, 500, 1_000] { _ = try replay(trace, capacity, context) }
        }
        guard let folder = context.traces else {
            context.unavailable(
                work: "hit ratio of recorded traces",
                subject: "Cache",
                reason: "traces were skipped: TYPED_CACHE_TRACES names no folder of them"
            )
            return
        }
        let traces = try RecordedTraces(
            in: folder,
            requestLimit: context.isQuick ? Self.quickRequestCount : .max
        )
        try replayCells(traces, context)
        try replayChain(traces, context)
    }

    private static func syntheticTraces(_ context: Context) -> [Trace] {
        let requests = context.isQuick ? 20_000 : 200_000
        return [
            SyntheticTrace.zipf(0.8, keys: 10_000, requests: requests, seed: 1),
            SyntheticTrace.zipf(0.99, keys: 10_000, requests: requests, seed: 2),
            SyntheticTrace.loop(keys: 1_500, requests: requests),
            SyntheticTrace.scanPolluted(keys: 10_000, requests: requests, scan: 500, seed: 3),
            SyntheticTrace.shifting(keys: 10_000, requests: requests, phases: 4, seed: 4),
        ]
    }

    private func replayCells(_ traces: RecordedTraces, _ context: Context) throws {
        var summary = HitRatioSummary()
        for cell in PublishedHitRatios.cells {
            guard let trace = traces[cell.trace] else { continue }
            let ratios = try replay(trace, cell.entryCount, context)
            guard let belady = ratios[BeladyReplay.name] else { continue }
            for (subject, ratio) in ratios { summary.add(ratio / belady, of: subject) }
            for (policy, percentage) in zip(PublishedHitRatios.policies, cell.percentages)
            where ratios[policy] == nil {
                let subject = "\(policy), published"
                record(trace.name, cell.entryCount, subject, percentage, context)
                summary.add(percentage / belady, of: subject)
            }
        }
        summary.record(cellsInAll: PublishedHitRatios.cells.count, in: context)
    }

    private func replayChain(_ traces: RecordedTraces, _ context: Context) throws {
        guard let first = traces["corda_vaultservice"], let second = traces["lirs_loop"] else {
            return context.unavailable(
                work: "hit ratio",
                parameters: ["trace": "chain"],
                subject: "Cache",
                reason: "its traces are missing, or left out of a quick run"
            )
        }
        let (entryCount, published) = PublishedHitRatios.chain
        let ratios = try replay(.chain(first, second), entryCount, context)
        for (policy, percentage) in published where ratios[policy] == nil {
            record("chain", entryCount, "\(policy), published", percentage, context)
        }
        record("chain", entryCount, "bar", 40, context)
    }

    /// Replays a trace over the cache and every known policy.
    ///
    /// - Returns: percentages by subject.
    private func replay(_ trace: Trace, _ capacity: Int, _ context: Context) throws -> [String: Double] {
        context.progress("\(trace.name), \(capacity) entries")
        let folder = try context.makeFolder("replay", inMemory: true)
        let hits: [(subject: String, count: Int)] = [
            (Self.ours, try CacheReplay.hits(in: trace, capacity: capacity, folder: folder)),
            (LRUReplay.name, LRUReplay.hits(in: trace, capacity: capacity)),
            (FIFOReplay.name, FIFOReplay.hits(in: trace, capacity: capacity)),
            (SieveReplay.name, SieveReplay.hits(in: trace, capacity: capacity)),
            (BeladyReplay.name, BeladyReplay.hits(in: trace, capacity: capacity)),
        ]
        var percentages: [String: Double] = [:]
        for (subject, count) in hits {
            let percentage = Double(count) * 100 / Double(trace.requests.count)
            percentages[subject] = percentage
            record(trace.name, capacity, subject, percentage, context)
        }
        return percentages
    }

    private func record(
        _ trace: String,
        _ capacity: Int,
        _ subject: String,
        _ percentage: Double,
        _ context: Context
    ) {
        context.value(
            work: "hit ratio",
            parameters: ["trace": trace, "entries": "\(capacity)"],
            subject: subject,
            isOurs: subject == Self.ours,
            unit: "%",
            better: .higher,
            samples: [percentage]
        )
    }

    static let ours = "Cache"
}
