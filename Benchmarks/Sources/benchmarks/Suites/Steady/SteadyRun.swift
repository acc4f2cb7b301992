import BenchmarkKit
import Foundation
@_spi(Measuring) import TypedCache

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
        let mean = items.reduce(0) { $0 + $1.stream.count } / items.count + DiskKeys.all[0].utf8.count
        keyCount = min(DiskKeys.all.count, 2 * byteLimit / mean)
    }

    func run() throws {
        let place = try context.makeFolder("steady")
        let folder = place.appending(path: "store", directoryHint: .isDirectory)
        let disk = DiskSettings(layout: .packed, byteLimit: .bytes(byteLimit))
        let store = try MeasuredStore(directory: folder, disk: disk)
        var tally = Tally()
        var requests = SteadyRequests(keyCount: keyCount, seed: 80)

        context.progress("filling \(byteLimit >> 20) MiB twice")
        while tally.userByteCount < 2 * byteLimit { try save(requests.next(), in: store, &tally) }

        let before = try state(of: store)
        tally = Tally()
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
        let after = try state(of: store)
        record(tally, seen, before, after, last - start)
        record(appends, beside: tally.saves)
    }

    private struct Tally {
        /// Nanoseconds.
        var saves = Latencies()
        var fetches = Latencies()
        var hits = 0
        var userByteCount = 0
        let wait = ProcessorWait()

        mutating func reserve(_ duration: Duration) {
            saves.reserve(duration)
            fetches.reserve(duration)
        }
    }

    private struct Latencies {
        private(set) var count = 0
        /// All long times, and some of the others.
        private(set) var kept: [Double] = []
        /// The intervals of operations that took more than 20 ms.
        private(set) var pauses: [ClosedRange<Double>] = []
        /// The longest time, less the time in which other threads had the processors.
        private(set) var longestAwake = 0.0
        private var stride = 1

        mutating func reserve(_ duration: Duration) {
            stride = 1 + Int(duration / .seconds(60))
            // More than there will be: the system gives memory only once it is used.
            kept.reserveCapacity(20_000_000)
        }

        mutating func append(since start: Double, _ wait: ProcessorWait) {
            let end = MonotonicTime.nanoseconds
            let nanoseconds = end - start
            if nanoseconds > 1e6 { longestAwake = max(longestAwake, nanoseconds - wait.take()) }
            if nanoseconds > 20e6 { pauses.append(start...end) }
            if count.isMultiple(of: stride) || nanoseconds > 1e6 { kept.append(nanoseconds) }
            count += 1
        }
    }

    private func save(_ key: Int, in store: MeasuredStore, _ tally: inout Tally) throws {
        let item = items[(key &+ tally.saves.count) % items.count]
        let start = MonotonicTime.nanoseconds
        try store.save(stream: item.stream, archiveByteCount: item.archiveByteCount, forKey: DiskKeys.all[key])
        tally.saves.append(since: start, tally.wait)
        tally.userByteCount += item.stream.count + DiskKeys.all[key].utf8.count
    }

    private func fetch(_ key: Int, in store: MeasuredStore, _ tally: inout Tally) throws {
        let start = MonotonicTime.nanoseconds
        let stream = try store.fetch(forKey: DiskKeys.all[key])
        tally.fetches.append(since: start, tally.wait)
        if stream != nil { tally.hits += 1 }
    }

    private struct State {
        let statistics: MeasuredStore.Statistics
        let writtenByteCount: Int?
    }

    private func state(of store: MeasuredStore) throws -> State {
        guard let statistics = try store.statistics() else { throw BenchmarkError("the store is not packed") }
        return State(statistics: statistics, writtenByteCount: WrittenBytes.count)
    }

    private func record(
        _ tally: Tally,
        _ seen: FolderWatch.Seen,
        _ before: State,
        _ after: State,
        _ duration: Duration
    ) {
        let parameters = ["limit": "\(byteLimit >> 20) MiB"]
        for (work, samples) in [
            ("save into a full store", tally.saves), ("fetch from a full store", tally.fetches),
        ] {
            let outcome = Outcome.latency(LatencySummary(samples.kept))
            context.record(
                work: work,
                parameters: parameters,
                subject: Self.subject,
                isOurs: true,
                outcome: outcome
            )
        }
        func value(_ work: String, _ unit: String, _ figure: Double, better: Direction = .lower) {
            context.value(
                work: work,
                subject: Self.subject,
                isOurs: true,
                unit: unit,
                better: better,
                samples: [figure]
            )
        }
        value("saves that took more than 20 ms", "", Double(tally.saves.pauses.count))
        value("fetches that took more than 20 ms", "", Double(tally.fetches.pauses.count))
        value("longest save, but for waiting for a processor", "ms", tally.saves.longestAwake / 1e6)
        value("longest fetch, but for waiting for a processor", "ms", tally.fetches.longestAwake / 1e6)
        value("longest delay of a thread that only looks on", "ms", seen.longestDelay / .milliseconds(1))

        let appended = after.statistics.appendedByteCount - before.statistics.appendedByteCount
        let carried = after.statistics.carriedByteCount - before.statistics.carriedByteCount
        value("write amplification, of records", "×", Double(appended) / Double(max(1, appended - carried)))
        if let former = before.writtenByteCount, let written = after.writtenByteCount {
            // With heads, headers and snapshots.
            value(
                "write amplification, of keys and streams",
                "×",
                Double(written - former) / Double(max(1, tally.userByteCount))
            )
        }
        value("most bytes of segments, to the limit", "×", Double(seen.mostSegmentBytes) / Double(byteLimit))
        value("most bytes of all files, to the limit", "×", Double(seen.mostBytes) / Double(byteLimit))
        value("hit ratio of fetches", "%", 100 * Double(tally.hits) / Double(tally.fetches.count), better: .higher)
        let operations = Double(tally.saves.count + tally.fetches.count)
        value("saves and fetches", "a second", operations / (duration / .seconds(1)), better: .higher)
    }

    /// Records how the file system held up a thread that only appends.
    private func record(_ appends: AppendProbe.Seen, beside saves: Latencies) {
        let own = saves.pauses.count { !appends.explains($0) }
        context.value(
            work: "saves that took more than 20 ms while no bare append was held up",
            subject: Self.subject,
            isOurs: true,
            unit: "",
            better: .lower,
            samples: [Double(own)]
        )
        for (work, unit, figure) in [
            (
                "bare appends that took more than 20 ms", "",
                Double(appends.holdups.count { $0.upperBound - $0.lowerBound > 20e6 })
            ),
            ("longest bare append", "ms", appends.longest / 1e6),
        ] {
            context.value(
                work: work,
                subject: "bare append",
                isOurs: false,
                unit: unit,
                better: .lower,
                samples: [figure]
            )
        }
    }
}
