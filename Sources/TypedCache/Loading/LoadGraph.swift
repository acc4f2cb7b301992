import Synchronization

/// Which loads wait for which others, over all caches of the process: a producer that waits for its own load would wait
/// for ever.
enum LoadGraph {
    private struct State {
        var lastNumber = 0
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

    private static let state = Mutex(State())

    /// The load whose producer the current task belongs to.
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

    static func endWaiting(_ load: Int, for other: Int) {
        state.withLock { state in
            guard var waits = state.waits[load], let index = waits.firstIndex(of: other) else { return }
            waits.remove(at: index)
            state.waits[load] = waits.isEmpty ? nil : waits
        }
    }
}
