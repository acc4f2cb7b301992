import BenchmarkKit
import Foundation
import TypedCache
import Workloads

/// How many requests memory answers, beside known policies and the optimum.
struct HitRatioSuite: Suite {
    static let name = "hit-ratio"
    static let summary = "requests answered from memory, beside known eviction policies"

    /// In quick runs, only traces of up to so many requests.
    private static let quickRequestCount = 140_000

    func run(_ context: Context) throws {
        for trace in Self.syntheticTraces(context) {
            for capacity in [100, 500, 1_000] { _ = try replay(trace, capacity: capacity, in: context) }
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
            let ratios = try replay(trace, capacity: cell.entryCount, in: context)
            guard let belady = ratios[BeladyReplay.name] else { continue }
            for (subject, ratio) in ratios { summary.add(ratio / belady, of: subject) }
            for (policy, percentage) in zip(PublishedHitRatios.policies, cell.percentages)
            where ratios[policy] == nil {
                let subject = "\(policy), published"
                record(percentage, of: subject, trace: trace.name, capacity: cell.entryCount, in: context)
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
        let (capacity, percentages) = PublishedHitRatios.chain
        let chain = Trace.chain(first, second)
        let ratios = try replay(chain, capacity: capacity, in: context)
        let published = percentages.filter { ratios[$0.0] == nil }.map { ("\($0.0), published", $0.1) }
        for (subject, percentage) in published + [("bar", 40)] {
            record(percentage, of: subject, trace: chain.name, capacity: capacity, in: context)
        }
    }

    /// Replays a trace over the cache and every known policy.
    ///
    /// - Returns: percentages by subject.
    private func replay(_ trace: Trace, capacity: Int, in context: Context) throws -> [String: Double] {
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
            record(percentage, of: subject, trace: trace.name, capacity: capacity, in: context)
        }
        return percentages
    }

    private func record(
        _ percentage: Double,
        of subject: String,
        trace: String,
        capacity: Int,
        in context: Context
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

/// Replays a trace over the memory tier of a `Cache`, by its public calls.
enum CacheReplay {
    private struct Token: Codable, Encoded, Sendable {
        let number: UInt32
    }

    /// How many requests are answered from memory, where `capacity` entries fit. A miss puts its entry into memory: from
    /// disk, where it is after the first time, or by saving it.
    ///
    /// - Parameter folder: an empty folder, best on a file system in memory; it is removed.
    static func hits(in trace: Trace, capacity: Int, folder: URL) throws -> Int {
        defer { removeFolder(folder) }
        let cache = try Cache<Token>(
            name: "replay",
            directory: folder,
            settings: CacheSettings(memory: MemorySettings(countLimit: capacity))
        )
        for key in trace.requests {
            if try cache.fetch(forKey: Int(key)) == nil {
                try cache.save(Token(number: key), forKey: Int(key))
            }
        }
        let statistics = cache.statistics
        guard statistics.memoryHits + statistics.diskHits + statistics.misses == trace.requests.count else {
            throw BenchmarkError("statistics do not add up to the requests: \(statistics)")
        }
        return statistics.memoryHits
    }

    /// Files that are left, if any, go with the folders of the whole run.
    private static func removeFolder(_ folder: URL) {
        try? FileManager.default.removeItem(at: folder)
    }
}

/// The recorded traces that are known and in a folder.
struct RecordedTraces {
    private var traces: [String: Trace] = [:]

    /// - Parameter requestLimit: traces of more requests are left out.
    /// - Throws: ``TraceError`` if a file is no trace, and the errors of reading a file.
    init(in folder: URL, requestLimit: Int) throws {
        for name in Set(PublishedHitRatios.cells.map(\.trace)) {
            let file = folder.appending(path: "\(name).\(TraceFile.pathExtension)")
            guard FileManager.default.fileExists(atPath: file.path) else { continue }
            let trace = try TraceFile.read(file)
            if trace.requests.count <= requestLimit { traces[name] = trace }
        }
    }

    subscript(name: String) -> Trace? { traces[name] }
}

/// The share of the possible hits that each subject had, over all cells.
struct HitRatioSummary {
    private static let meanBar = 0.87
    private static let minimumBar = 0.60

    private var shares: [String: [Double]] = [:]

    mutating func add(_ share: Double, of subject: String) {
        shares[subject, default: []].append(share)
    }

    func record(cellsInAll: Int, in context: Context) {
        let cells = shares[HitRatioSuite.ours]?.count ?? 0
        let means = shares.mapValues { $0.reduce(0, +) / Double($0.count) }
        // Ours first, then the best.
        let subjects = shares.keys.sorted { left, right in
            let (leftIsOurs, rightIsOurs) = (left == HitRatioSuite.ours, right == HitRatioSuite.ours)
            return leftIsOurs == rightIsOurs ? means[left, default: 0] > means[right, default: 0] : leftIsOurs
        }

        func record(_ work: String, bar: Double, figure: (String) -> Double) {
            for (subject, figure) in subjects.map({ ($0, figure($0)) }) + [("bar", bar)] {
                context.value(
                    work: work,
                    parameters: ["cells": "\(cells) of \(cellsInAll)"],
                    subject: subject,
                    isOurs: subject == HitRatioSuite.ours,
                    unit: "of optimum",
                    better: .higher,
                    samples: [figure]
                )
            }
        }
        record("mean of hits / Belady hits", bar: Self.meanBar) { means[$0, default: 0] }
        record("minimum of hits / Belady hits", bar: Self.minimumBar) { shares[$0]?.min() ?? 0 }
    }
}
