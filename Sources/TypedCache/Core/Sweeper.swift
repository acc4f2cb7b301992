import ArchiveStore
import Dispatch
import Synchronization

/// Has expired entries removed once a minute, as long as it is there.
///
/// All sweepers of the process share one timer, which is there as long as one of them is: a program may have many
/// caches, and a timer of its own would wake the process for each.
final class Sweeper: Sendable {
    private static let interval = DispatchTimeInterval.seconds(60)
    private static let queue = DispatchQueue.global(qos: .utility)
    private static let shared = Mutex(Shared())

    /// Unchecked: the timer is touched under the lock of `shared` only.
    private struct Shared: @unchecked Sendable {
        var timer: (any DispatchSourceTimer)?
        var sweeps: [UInt64: @Sendable () -> Void] = [:]
        var last: UInt64 = 0
    }

    private let number: UInt64

    /// - Parameter sweep: is called on a thread of its own.
    init(_ sweep: @escaping @Sendable () -> Void) {
        number = Self.shared.withLock { shared in
            shared.last += 1
            shared.sweeps[shared.last] = sweep
            if shared.timer == nil { shared.timer = Self.timer() }
            return shared.last
        }
    }

    deinit {
        // In a forked process, a thread that is not there may have the lock, and there is no timer.
        guard StoreUsage.hasQueues else { return }
        let sweep = Self.shared.withLock { shared in
            let sweep = shared.sweeps.removeValue(forKey: number)
            if shared.sweeps.isEmpty {
                shared.timer?.cancel()
                shared.timer = nil
            }
            return sweep
        }
        _ = sweep
    }

    private static func timer() -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .seconds(10))
        timer.setEventHandler {
            // Side by side: one cache with much to remove keeps no other waiting.
            for sweep in shared.withLock({ Array($0.sweeps.values) }) { queue.async(execute: sweep) }
        }
        timer.activate()
        return timer
    }
}
