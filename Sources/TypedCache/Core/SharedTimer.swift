import ArchiveStore
import Dispatch
import Synchronization

/// Calls its registered work again and again, on threads of the system's, as long as there is some.
///
/// All caches of the process share one: a program may have many, and a timer of its own would wake the process for
/// each.
final class SharedTimer: Sendable {
    /// For sweeps of expired entries.
    static let everyMinute = SharedTimer(interval: .seconds(60), leeway: .seconds(10))
    /// For statistics that are published.
    static let everySecond = SharedTimer(interval: .seconds(1), leeway: .milliseconds(100))

    private static let queue = DispatchQueue.global(qos: .utility)

    /// Unchecked: the timer is touched under the lock of `state` only.
    private struct State: @unchecked Sendable {
        var timer: (any DispatchSourceTimer)?
        /// By number, one for each open cache. Not a dictionary: the first one with keys of its kind takes the runtime 375,000
        /// instructions at the start of a process.
        var works: [(number: UInt64, work: @Sendable () -> Void)] = []
        var last: UInt64 = 0
    }

    private let state = Mutex(State())
    private let interval: DispatchTimeInterval
    private let leeway: DispatchTimeInterval

    init(interval: DispatchTimeInterval, leeway: DispatchTimeInterval) {
        self.interval = interval
        self.leeway = leeway
    }

    /// Has `work` called for the first time when the interval is over, and until the registration is released.
    ///
    /// - Parameter work: is called on a thread of its own; the next call may begin before it has returned.
    func register(_ work: @escaping @Sendable () -> Void) -> Registration {
        let number = state.withLock { state in
            state.last += 1
            state.works.append((state.last, work))
            if state.timer == nil { state.timer = timer() }
            return state.last
        }
        return Registration(timer: self, number: number)
    }

    /// Work that a timer calls as long as this is there.
    final class Registration: Sendable {
        private let timer: SharedTimer
        private let number: UInt64

        fileprivate init(timer: SharedTimer, number: UInt64) {
            self.timer = timer
            self.number = number
        }

        deinit {
            // In a forked process, a thread that is not there may have the lock, and there is no timer.
            if StoreUsage.hasQueues { timer.remove(number) }
        }
    }

    private func remove(_ number: UInt64) {
        let work = state.withLock { state in
            let place = state.works.firstIndex { $0.number == number }
            let work = place.map { state.works.remove(at: $0) }
            if state.works.isEmpty {
                state.timer?.cancel()
                state.timer = nil
            }
            return work
        }
        _ = work
    }

    private func timer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: Self.queue)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: leeway)
        timer.setEventHandler { [weak self] in
            // Side by side: one cache with much to do keeps no other waiting.
            guard let works = self?.state.withLock({ $0.works }) else { return }
            for (_, work) in works { Self.queue.async(execute: work) }
        }
        timer.activate()
        return timer
    }
}
