import ArchiveStore
import Synchronization

/// Which loads wait for which others, over all caches of the process: a producer that waits for its own load would wait
/// for ever.
enum LoadGraph {
    /// The lock of a key in a directory that loads join among processes.
    struct Lock: Hashable {
        let place: String
        let offset: KeyLocks.Offset
    }

    private struct State {
        var lastNumber = 0
        /// Which load of this process has a lock.
        var holders: [Lock: Int] = [:]
        /// The loads that a load waits for; one several times if several of its tasks do.
        var waits: [Int: [Int]] = [:]

        func reaches(_ target: Int, from start: Int) -> Bool {
            var seen: Set<Int> = []
            var open = [start]
            while let load = open.popLast() {
                if load == target { return true }
                if seen.insert(load).inserted { open += waits[load] ?? [] }
            }
            return false
        }
    }

    private static let state = RankedMutex(State(), rank: CacheLocks.waits)

    /// The number of the load with the producer that the current task belongs to; `nil` outside of producers.
    @TaskLocal static var current: Int?

    static func makeNumber() -> Int {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Says that the producer of a load waits for another load.
    ///
    /// - Returns: `false`, and then nothing is said, if that one waits for the first one itself, directly or not.
    static func beginWaiting(_ load: Int, for other: Int) -> Bool {
        state.withLock { state in
            if state.reaches(load, from: other) { return false }
            state.waits[load, default: []].append(other)
            return true
        }
    }

    /// Whether a load waits for another one.
    static func isAwaited(_ load: Int) -> Bool {
        state.withLock { state in state.waits.values.contains { $0.contains(load) } }
    }

    /// Says that a load has a lock.
    static func hold(_ lock: Lock, by load: Int) { state.withLock { $0.holders[lock] = load } }

    /// Says that a load has given locks back.
    static func release(_ locks: [Lock], by load: Int) {
        state.withLock { state in
            // Another load may have taken it already.
            for lock in locks where state.holders[lock] == load { state.holders[lock] = nil }
        }
    }

    /// Says that a load waits for the load of this process that has a lock, if one has.
    ///
    /// - Returns: that load, `nil` if there is none.
    /// - Throws: ``Circle`` if that one waits for the first one itself; nothing is said then.
    static func beginWaiting(_ load: Int, for lock: Lock) throws(Circle) -> Int? {
        try state.withLock { state throws(Circle) in
            guard let holder = state.holders[lock], holder != load else { return nil }
            if state.reaches(load, from: holder) { throw Circle() }
            state.waits[load, default: []].append(holder)
            return holder
        }
    }

    /// Loads that wait for each other.
    struct Circle: Error {}

    static func endWaiting(_ load: Int, for other: Int) {
        state.withLock { state in
            guard var waits = state.waits[load], let index = waits.firstIndex(of: other) else { return }
            waits.remove(at: index)
            state.waits[load] = waits.isEmpty ? nil : waits
        }
    }
}
