import Foundation
import Synchronization

/// Tells whether the command has been asked to stop.
protocol Interruption: AnyObject, Sendable {
    /// The signal that asked, or `nil`.
    var signal: Int32? { get }

    /// A file descriptor that becomes readable with the signal, for `poll`; `nil` if there is none.
    var descriptor: Int32? { get }
}

extension Interruption {
    /// Opens a file. Where that waits for the other end of a pipe, the signal ends it.
    ///
    /// Implementation: where `open` may wait, it runs on a thread of its own, since a signal just before it begins to
    /// wait would not end that; `poll` sees the signal whenever it comes. The thread may wait on until the process ends.
    ///
    /// - Returns: the descriptor; else -1 and `errno`, which is `EINTR` after the signal.
    func openWaiting(_ path: String, _ flags: Int32) -> Int32 {
        guard DocumentFile.isStream(path) else { return Opening.open(path, flags | O_CLOEXEC) }
        guard let opening = Opening() else { return -1 }
        opening.start(path, flags | O_CLOEXEC)
        var waiting = [opening.end, descriptor ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while signal == nil, poll(&waiting, 2, -1) < 0, errno == EINTR {}
        let (file, number) = opening.take() ?? (-1, EINTR)
        errno = number
        return file
    }
}

/// A file that another thread opens.
private final class Opening: Sendable {
    private struct State {
        var result: (file: Int32, errno: Int32)?
        /// Whether the result is not asked for any longer.
        var isOver = false
    }

    /// Becomes readable once there is a result.
    let end: Int32
    private let otherEnd: Int32
    private let state = Mutex(State())

    /// - Returns: `nil` and `errno` if there are no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (end, otherEnd) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit {
        close(end)
        close(otherEnd)
    }

    func start(_ path: String, _ flags: Int32) {
        Thread { [self] in
            let file = Self.open(path, flags)
            finish(file, errno)
        }.start()
    }

    /// Opens a file in spite of signals.
    static func open(_ path: String, _ flags: Int32) -> Int32 {
        while true {
            let file = Foundation.open(path, flags)
            if file >= 0 || errno != EINTR { return file }
        }
    }

    private func finish(_ file: Int32, _ number: Int32) {
        state.withLock { state in
            if state.isOver {
                if file >= 0 { close(file) }
                return
            }
            state.result = (file, number)
            var byte: UInt8 = 1
            _ = write(otherEnd, &byte, 1)
        }
    }

    /// The descriptor, or -1, and the error's number; `nil` if there is none yet: a later one is closed at once.
    func take() -> (file: Int32, errno: Int32)? {
        state.withLock { state in
            state.isOver = true
            return state.result
        }
    }
}
