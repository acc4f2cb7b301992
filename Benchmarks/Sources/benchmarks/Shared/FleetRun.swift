import BenchmarkKit
import Foundation
import SharedCache
import TypedCache

/// Several processes with caches on one server: how soon they see changes, how often they load, and whether they agree.
struct FleetRun {
    static let processCount = 8
    private static let taskCount = 32

    /// A row of figures that this run makes.
    struct Row {
        let work: String
        let parameters: [String: String]
        let subject: String
    }

    static let producersRow = Row(
        work: "producers that run when all processes miss a key, in the mean",
        parameters: ["processes": "\(processCount)", "tasks": "\(taskCount)"],
        subject: "Cache"
    )

    static func wrongReadsRow(_ subject: String) -> Row {
        Row(
            work: "keys that two processes read wrongly after both saved them at once",
            parameters: [:],
            subject: subject
        )
    }

    static func trialCount(_ context: Context) -> Int { context.isQuick ? 2_000 : 10_000 }

    let url: String

    func run(_ context: Context) throws {
        let workers = try (0..<Self.processCount).map { _ in try SharedWorker.start(url) }
        defer { for worker in workers { worker.end() } }
        let tier = try SharedTier(url)
        defer { tier.close() }
        let parameters = ["processes": "\(Self.processCount)"]

        context.progress("news of a save")
        let delays = try delays(workers, tier, count: context.isQuick ? 100 : 500)
        for (name, share) in [("median", 0.5), ("p99", 0.99), ("most", 1)] {
            context.value(
                work: "from a writer's reply until the last process reads the new value",
                parameters: parameters,
                subject: "Cache, \(name)",
                isOurs: true,
                unit: "ms",
                samples: [delays[Int(Double(delays.count - 1) * share)]]
            )
        }

        context.progress("loads of one key")
        context.value(
            work: Self.producersRow.work,
            parameters: Self.producersRow.parameters,
            subject: Self.producersRow.subject,
            isOurs: true,
            unit: "producers",
            samples: [try producers(workers, rounds: context.isQuick ? 10 : 50)]
        )

        context.progress("two writers")
        let trials = Self.trialCount(context)
        let row = Self.wrongReadsRow("Cache, of \(trials)")
        context.value(
            work: row.work,
            subject: row.subject,
            isOurs: true,
            unit: "keys",
            samples: [Double(try wrongReads(workers[0], workers[1], in: tier, trials: trials))]
        )
    }

    /// Milliseconds from the return of each save until the last of the workers has read it, sorted.
    private func delays(_ workers: [LineProcess], _ tier: SharedTier, count: Int) throws -> [Double] {
        let cache = try Cache<Note>(name: "notes", shared: tier, settings: CacheSettings(memory: .none))
        for worker in workers { _ = try worker.ask("watch news \(count)") }
        var delays: [Double] = []
        for version in 1...count {
            usleep(UInt32.random(in: 1_000...4_000))
            try cache.save(Note(version: version, text: String(repeating: "news ", count: 200)), forKey: "news")
            let saved = MonotonicTime.nanoseconds()
            var last = 0.0
            for worker in workers {
                let words = try worker.answer()
                guard words.count == 2, words[0] == "\(version)", let seen = Double(words[1]) else {
                    throw BenchmarkError("a worker answered \(words)")
                }
                last = max(last, (seen - saved) / 1e6)
            }
            delays.append(last)
        }
        return delays.sorted()
    }

    /// How many producers run for one key that every task of every worker misses.
    private func producers(_ workers: [LineProcess], rounds: Int) throws -> Double {
        var count = 0
        for round in 0..<rounds {
            let time = Int(MonotonicTime.nanoseconds() + 20e6)
            for worker in workers { try worker.send("load missing-\(round) \(Self.taskCount) \(time)") }
            for worker in workers {
                let words = try worker.answer()
                guard words.count == 2, let producers = Int(words[0]), words[1] == "\(Self.taskCount)" else {
                    throw BenchmarkError("a worker answered \(words)")
                }
                count += producers
            }
        }
        return Double(count) / Double(rounds)
    }

    /// Two workers save the same keys at once; how many keys either of them reads as something else than the server
    /// has, once the bound of staleness is over.
    private func wrongReads(
        _ first: LineProcess,
        _ second: LineProcess,
        in tier: SharedTier,
        trials: Int
    ) throws -> Int {
        let batch = 250
        for start in stride(from: 0, to: trials, by: batch) {
            let time = Int(MonotonicTime.nanoseconds() + 4e6)
            let writers = [first, second]
            for (number, worker) in writers.enumerated() {
                try worker.send("write \(start) \(min(start + batch, trials)) \(number + 1) \(time)")
            }
            for worker in writers where try worker.answer() != ["written"] {
                throw BenchmarkError("a worker did not save")
            }
        }
        let settings = SharedSettings()
        let bound = settings.heartbeat.interval + settings.heartbeat.deadline
        usleep(UInt32(bound / .microseconds(1)))
        let cache = try Cache<Note>(name: "notes", shared: tier, settings: CacheSettings(memory: .none))
        let there = try (0..<trials).map { "\(try cache.fetch(forKey: "trial-\($0)")?.version ?? 0)" }
        guard there.contains("1"), there.contains("2"), !there.contains("0") else {
            throw BenchmarkError("the two writers did not write at once")
        }
        let answers = try [first, second].map { try $0.ask("read \(trials)") }
        return there.indices.count { index in answers.contains { $0[index] != there[index] } }
    }
}
