import BenchmarkKit
import Foundation

/// Several threads at once that save entries' bytes, and wait for the disk each time.
struct ConcurrentSaversBench {
    private static let threadCount = 8

    /// A way for threads to save.
    private struct Savers {
        let kind: DiskKind
        let name: String
        /// Whether each thread has its own connection to the same store.
        let areSeparate: Bool
        var isLocked = false

        func open(_ folder: URL) throws -> Opened {
            if areSeparate {
                return Opened(contestants: try (0..<threadCount).map { _ in try kind.open(folder) })
            }
            let one = try kind.open(folder)
            return Opened(
                contestants: Array(repeating: isLocked ? LockedContestant(one) : one, count: threadCount)
            )
        }
    }

    /// Unchecked: each thread uses its own contestant, or one that locks, or one whose store any thread may use.
    private struct Opened: @unchecked Sendable {
        let contestants: [any DiskContestant]
    }

    private let context: Context
    private let items: [DiskItem]
    private let savesPerThread: Int
    private let rounds: Int

    init(_ context: Context) throws {
        self.context = context
        items = try DiskItem.make(textByteCount: DiskBench.TextSize.oneKibibyte.byteCount)
        savesPerThread = context.isQuick ? 20 : 100
        rounds = context.isQuick ? 3 : 7
    }

    /// Times are those of one save as its thread sees it: the time of all saves, divided by the saves of one thread.
    func compare() throws {
        let work = "save an entry's bytes among others, and wait for the disk"
        let parameters = ["threads": "\(Self.threadCount)", "text": DiskBench.TextSize.oneKibibyte.name]
        let savers = Self.savers
        let stores = try savers.map { try $0.open(context.makeFolder("savers")) }
        var samples = [[Double]](repeating: [], count: savers.count)
        for round in 0...rounds {
            for (index, store) in stores.enumerated() {
                context.progress("\(work): \(savers[index].name)")
                let time = try time(store, round: round)
                // The first one is to warm up.
                if round > 0 { samples[index].append(time) }
            }
        }
        for (savers, times) in zip(savers, samples) {
            let figures = TimeFigures(nanoseconds: Summary(times), ratio: Summary(ratiosOf: times, to: samples[0]))
            context.record(
                work: work,
                parameters: parameters,
                subject: savers.name,
                isOurs: savers.kind.isOurs,
                outcome: .time(figures)
            )
        }
        DiskKind.recordMissing(work: work, parameters: parameters, in: context)
    }

    private static var savers: [Savers] {
        DiskKind.durableStores.map { Savers(kind: $0, name: $0.name, areSeparate: false) }
            + DiskKind.sqlite(.full).flatMap { kind in
                [
                    Savers(kind: kind, name: "\(kind.name), a connection each", areSeparate: true),
                    Savers(kind: kind, name: "\(kind.name), one behind a lock", areSeparate: false, isLocked: true),
                ]
            }
            + DiskKind.lmdbSynchronous.map { Savers(kind: $0, name: $0.name, areSeparate: false) }
    }

    /// Nanoseconds of a save.
    private func time(_ store: Opened, round: Int) throws -> Double {
        let items = items
        let count = savesPerThread
        let first = round * Self.threadCount * count
        let duration = try ContinuousClock().measure {
            let indices = first..<first + Self.threadCount * count
            try ParallelWork.perform(indices, threads: Self.threadCount) { indices in
                let contestant = store.contestants[(indices.lowerBound - first) / count]
                for index in indices {
                    try contestant.save(items[index % items.count], forKey: DiskItem.keys[index])
                }
            }
        }
        return duration / .nanoseconds(1) / Double(count)
    }
}

/// Another contestant behind a lock, for threads to share a store that only one may use at a time.
///
/// The lock is recursive: changes within ``together(_:)`` take it again.
final class LockedContestant: DiskContestant {
    private let contestant: any DiskContestant
    private let lock = NSRecursiveLock()

    init(_ contestant: any DiskContestant) { self.contestant = contestant }

    func save(_ item: DiskItem, forKey key: String) throws {
        try lock.withLock { try contestant.save(item, forKey: key) }
    }

    func fetch(forKey key: String) throws -> Bool { try lock.withLock { try contestant.fetch(forKey: key) } }

    func remove(forKey key: String) throws { try lock.withLock { try contestant.remove(forKey: key) } }

    func together(_ body: () throws -> Void) throws { try lock.withLock { try contestant.together(body) } }
}
