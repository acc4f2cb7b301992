import Foundation
import Synchronization

/// The signal that arrived first; 0 if there is none.
private let arrived = Atomic<Int32>(0)

/// Whether a signal arrived that tells of a change.
private let changed = Atomic<Bool>(false)

/// The end of a pipe that a signal writes to; -1 if there is none.
private let wake = Atomic<Int32>(-1)

/// Runs inside the signal handler: two atomics and `write`, which POSIX allows there.
private func note(_ signal: Int32) {
    let saved = errno
    _ = arrived.compareExchange(expected: 0, desired: signal, ordering: .sequentiallyConsistent)
    var byte: UInt8 = 1
    _ = write(wake.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = saved
}

/// Runs inside the signal handler, as ``note(_:)``.
private func noteChange(_ signal: Int32) {
    let saved = errno
    changed.store(true, ordering: .sequentiallyConsistent)
    var byte: UInt8 = 1
    _ = write(wake.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = saved
}

/// Turns the first SIGINT or SIGTERM into a flag; a second one ends the process as it would have anyway.
///
/// A signal that the process was started to ignore, as `nohup` and shells do for work in the background, stays
/// ignored. One that is merely blocked is let through: programs that start others from a worker thread pass on
/// that thread's blocked signals, and mean nothing by it.
final class SignalTrap: Interruption {
    let descriptor: Int32?

    /// Signals belong to the process, so one trap at a time is all that makes sense.
    ///
    /// - Parameters:
    ///   - ending: the signals that ask the command to stop.
    ///   - changing: the signals that tell it of a change, as often as they come.
    init(ending: [Int32] = [SIGINT, SIGTERM], changing: [Int32] = []) {
        var ends: [Int32] = [-1, -1]
        descriptor = pipe(&ends) == 0 ? ends[0] : nil
        for end in ends where end >= 0 {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // A handler must not wait for a reader.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        // Both are set up before a handler can see them, since a handler must not set them up.
        arrived.store(0, ordering: .sequentiallyConsistent)
        wake.store(ends[1], ordering: .sequentiallyConsistent)
        changed.store(false, ordering: .sequentiallyConsistent)
        for signal in ending { install(signal, note, resets: true) }
        for signal in changing { install(signal, noteChange, resets: false) }
    }

    var signal: Int32? {
        let signal = arrived.load(ordering: .relaxed)
        return signal == 0 ? nil : signal
    }

    /// Whether a signal has told of a change since the last call.
    func takeChange() -> Bool {
        guard changed.exchange(false, ordering: .sequentiallyConsistent) else { return false }
        var bytes = [UInt8](repeating: 0, count: 64)
        // The pipe is left full for a signal that asks to stop.
        while let descriptor, signal == nil, read(descriptor, &bytes, bytes.count) == bytes.count {}
        return true
    }

    private func install(_ signal: Int32, _ handler: @escaping @convention(c) (Int32) -> Void, resets: Bool) {
        var current = sigaction()
        guard sigaction(signal, nil, &current) == 0, !Self.ignores(current) else { return }
        var action = sigaction()
        #if canImport(Darwin)
            action.__sigaction_u.__sa_handler = handler
        #else
            action.__sigaction_handler.sa_handler = handler
        #endif
        action.sa_flags = resets ? Int32(truncatingIfNeeded: SA_RESETHAND) : 0
        sigaction(signal, &action, nil)
        Self.unblock(signal)
    }

    /// Lets a signal through to this thread.
    static func unblock(_ signal: Int32) {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Holds signals back from this thread; returns the former set, for ``restore(_:)``.
    static func block(_ signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        var former = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, &former)
        return former
    }

    /// Lets this thread have the signals that came in the meantime.
    static func restore(_ former: sigset_t) {
        var former = former
        pthread_sigmask(SIG_SETMASK, &former, nil)
    }

    private static func ignores(_ action: sigaction) -> Bool {
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        // Function pointers have no equality in Swift; their addresses do.
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
