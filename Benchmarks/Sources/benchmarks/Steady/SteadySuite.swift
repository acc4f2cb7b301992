import BenchmarkKit
import Foundation
import StoreMeasuring
import Workloads

/// A packed store that is full for a long time.
struct SteadySuite: Suite {
    static let name = "steady"
    static let summary = "a full packed store under saves and fetches: pauses, write amplification, its limit"

    func run(_ context: Context) throws {
        let limit = (context.isQuick ? 32 : 256) << 20
        try SteadyRun(context, byteLimit: limit, duration: Self.duration(context)).run()
    }

    /// 20 s, or as many minutes as `TYPED_CACHE_STEADY_MINUTES` says; 3 s if quick, less if once.
    private static func duration(_ context: Context) throws -> Duration {
        guard let text = ProcessInfo.processInfo.environment["TYPED_CACHE_STEADY_MINUTES"] else {
            return context.extent == .once ? .milliseconds(300) : .seconds(context.isQuick ? 3 : 20)
        }
        guard let minutes = Double(text), minutes > 0 else {
            throw BenchmarkError("TYPED_CACHE_STEADY_MINUTES is not a number of minutes: \(text)")
        }
        return .seconds(minutes * 60)
    }
}

/// One thread that saves and fetches in turns, in a packed store that is full.
///
/// There are keys for twice the limit. A fifth of them get four fifths of the saves, and of the fetches.
struct SteadyRun {
    private static let subject = "packed store"

    private let context: Context
    private let byteLimit: Int
    private let duration: Duration
    private let items: [DiskItem]
    private let keyCount: Int

    init(_ context: Context, byteLimit: Int, duration: Duration) throws {
        self.context = context
        self.byteLimit = byteLimit
        self.duration = duration
        items = try DiskItem.make(textByteCount: 1 << 10)
        let mean = items.reduce(0) { $0 + $1.stream.count } / items.count + DiskItem.keys[0].utf8.count
        keyCount = min(DiskItem.keys.count, 2 * byteLimit / mean)
    }

    func run() throws {
        let place = try context.makeFolder("steady")
        let folder = place.appending(path: "store", directoryHint: .isDirectory)
        let store = try MeasuredStore(directory: folder, layout: .packed, byteLimit: byteLimit)
        var tally = SteadyTally()
        var requests = SteadyRequests(keyCount: keyCount, seed: 80)

        context.progress("filling \(byteLimit >> 20) MiB twice")
        while tally.userByteCount < 2 * byteLimit { try save(requests.next(), in: store, &tally) }

        let before = try State(of: store)
        tally = SteadyTally()
        // Memory is reserved before, so that recording figures causes no pause.
        tally.reserve(duration)
        let watch = FolderWatch(folder)
        let probe = AppendProbe(in: place)
        let clock = ContinuousClock()
        let start = clock.now
        var last = start
        while last - start < duration {
            // A hundred at a time: the clock is read often enough that way.
            for _ in 0..<100 {
                let key = requests.next()
                try save(key, in: store, &tally)
                let other = requests.next()
                try fetch(other, in: store, &tally)
            }
            _ = tally.wait.take()
            let now = clock.now
            if (now - start).components.seconds != (last - start).components.seconds {
                let passed = (now - start).components.seconds
                context.progress("\(passed) s of \(duration.components.seconds) s")
            }
            last = now
        }
        let seen = watch.end()
        let appends = probe.end()
        let after = try State(of: store)
        recordPauses(tally, seen)
        recordWrites(tally, from: before, to: after)
        recordSpace(seen)
        recordService(tally, last - start)
        recordAppends(appends, beside: tally.saves)
    }

    private func save(_ key: Int, in store: MeasuredStore, _ tally: inout SteadyTally) throws {
        let item = items[(key &+ tally.saves.count) % items.count]
        let start = MonotonicTime.nanoseconds()
        try store.save(stream: item.stream, archiveByteCount: item.archiveByteCount, forKey: DiskItem.keys[key])
        tally.saves.append(since: start, tally.wait)
        tally.userByteCount += item.stream.count + DiskItem.keys[key].utf8.count
    }

    private func fetch(_ key: Int, in store: MeasuredStore, _ tally: inout SteadyTally) throws {
        let start = MonotonicTime.nanoseconds()
        let stream = try store.fetch(forKey: DiskItem.keys[key])
        tally.fetches.append(since: start, tally.wait)
        if stream != nil { tally.hits += 1 }
    }

    /// The bytes that the store and the whole process have written until now.
    private struct State {
        let statistics: MeasuredStore.Statistics
        /// All bytes that this process has given to the system to write; `nil` on systems without `/proc`.
        let writtenByteCount: Int?

        init(of store: MeasuredStore) throws {
            guard let statistics = try store.statistics() else { throw BenchmarkError("the store is not packed") }
            self.statistics = statistics
            let text = try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)
            let line = text?.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
            writtenByteCount = line.flatMap { Int($0.dropFirst(7)) }
        }
    }

    // MARK: Figures

    private func recordPauses(_ tally: SteadyTally, _ seen: FolderWatch.Seen) {
        let parameters = ["limit": "\(byteLimit >> 20) MiB"]
        for (work, samples) in [
            ("save into a full store", tally.saves), ("fetch from a full store", tally.fetches),
        ] {
            context.record(
                work: work,
                parameters: parameters,
                subject: Self.subject,
                isOurs: true,
                outcome: .latency(LatencySummary(samples.kept))
            )
        }
        value("saves that took more than 20 ms", Double(tally.saves.pauses.count), unit: "")
        value("fetches that took more than 20 ms", Double(tally.fetches.pauses.count), unit: "")
        value("longest save, but for waiting for a processor", tally.saves.longestAwake / 1e6, unit: "ms")
        value("longest fetch, but for waiting for a processor", tally.fetches.longestAwake / 1e6, unit: "ms")
        value("longest delay of a thread that only looks on", seen.longestDelay / .milliseconds(1), unit: "ms")
    }

    private func recordWrites(_ tally: SteadyTally, from before: State, to after: State) {
        let appended = after.statistics.appendedByteCount - before.statistics.appendedByteCount
        let carried = after.statistics.carriedByteCount - before.statistics.carriedByteCount
        let ratio = Double(appended) / Double(max(1, appended - carried))
        value("write amplification, of records", ratio, unit: "×")
        if let former = before.writtenByteCount, let written = after.writtenByteCount {
            // With heads, headers and snapshots.
            let ratio = Double(written - former) / Double(max(1, tally.userByteCount))
            value("write amplification, of keys and streams", ratio, unit: "×")
        }
    }

    private func recordSpace(_ seen: FolderWatch.Seen) {
        let limit = Double(byteLimit)
        value("most bytes of segments, to the limit", Double(seen.mostSegmentBytes) / limit, unit: "×")
        value("most bytes of all files, to the limit", Double(seen.mostBytes) / limit, unit: "×")
    }

    private func recordService(_ tally: SteadyTally, _ duration: Duration) {
        let hits = 100 * Double(tally.hits) / Double(tally.fetches.count)
        value("hit ratio of fetches", hits, unit: "%", better: .higher)
        let operations = Double(tally.saves.count + tally.fetches.count)
        value("saves and fetches", operations / (duration / .seconds(1)), unit: "a second", better: .higher)
    }

    /// Records how the file system held up a thread that only appends.
    private func recordAppends(_ appends: AppendProbe.Seen, beside saves: SteadyTally.Latencies) {
        let own = saves.pauses.count { !appends.explains($0) }
        value("saves that took more than 20 ms while no bare append was held up", Double(own), unit: "")
        let long = appends.holdups.count { $0.upperBound - $0.lowerBound > 20e6 }
        let probe = "bare append"
        value("bare appends that took more than 20 ms", Double(long), unit: "", of: probe)
        value("longest bare append", appends.longest / 1e6, unit: "ms", of: probe)
    }

    private func value(
        _ work: String,
        _ figure: Double,
        unit: String,
        of subject: String = subject,
        better: Direction = .lower
    ) {
        context.value(
            work: work,
            subject: subject,
            isOurs: subject == Self.subject,
            unit: unit,
            better: better,
            samples: [figure]
        )
    }
}

/// Keys of which a fifth get four fifths of all requests.
struct SteadyRequests {
    private let keyCount: Int
    private var generator: SeededGenerator

    init(keyCount: Int, seed: UInt64) {
        self.keyCount = keyCount
        generator = SeededGenerator(seed: seed)
    }

    mutating func next() -> Int {
        let hotCount = keyCount / 5
        let isHot = Int.random(in: 0..<5, using: &generator) < 4
        return isHot
            ? Int.random(in: 0..<hotCount, using: &generator)
            : Int.random(in: hotCount..<keyCount, using: &generator)
    }
}
