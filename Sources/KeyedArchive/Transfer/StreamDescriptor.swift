import Foundation

/// The file descriptor of a stream, as the one thread that reads or writes it uses it.
///
/// No call on it blocks but ``wait(for:)``, which another thread can end: a thread that is blocked inside of `read` could
/// never be told to stop. Sockets are asked call by call not to block; the descriptors of pipes and the like are set
/// not to, and set back at the end.
///
/// A write to a stream whose reader is gone is an error and no signal: on Apple platforms the descriptor says so, elsewhere
/// sockets do call by call, and for pipes the writing thread blocks the signal.
final class StreamDescriptor: Sendable {
    enum Readiness {
        case readable
        case writable

        fileprivate var events: Int16 { Int16(self == .readable ? POLLIN : POLLOUT) }
    }

    enum Transfer {
        case bytes(Int)
        case wouldBlock
        case failed(errno: Int32)
    }

    /// Keeps the descriptor open.
    private let handle: FileHandle
    private let number: Int32
    private let isSocket: Bool
    /// The flags to set back; `nil` if they were not changed.
    private let formerFlags: Int32?
    /// A pipe that ends a wait when it is closed or written to.
    private let wakeReader: Int32
    private let wakeWriter: Int32

    init(_ handle: FileHandle) throws(TransferError) {
        self.handle = handle
        number = handle.fileDescriptor
        var status = stat()
        guard fstat(number, &status) == 0 else { throw TransferError(system: errno, "opened") }
        isSocket = status.st_mode & S_IFMT == S_IFSOCK
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw TransferError(system: errno, "opened") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
        let flags = fcntl(number, F_GETFL)
        if isSocket || flags < 0 || flags & O_NONBLOCK != 0 {
            formerFlags = nil
        } else {
            formerFlags = fcntl(number, F_SETFL, flags | O_NONBLOCK) == 0 ? flags : nil
        }
        #if canImport(Darwin)
            _ = fcntl(number, F_SETNOSIGPIPE, 1)
        #endif
    }

    deinit {
        if let formerFlags { _ = fcntl(number, F_SETFL, formerFlags) }
        close(wakeReader)
        close(wakeWriter)
    }

    /// Blocks, in this thread, the signal of a pipe whose reader is gone.
    static func blockPipeSignal() {
        #if !canImport(Darwin)
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
        #endif
    }

    /// Waits until the stream can be read or written, has failed, or ``wake()`` is called.
    func wait(for readiness: Readiness) {
        var waiting = [
            pollfd(fd: number, events: readiness.events, revents: 0),
            pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, nfds_t(waiting.count), -1) < 0, errno == EINTR {}
    }

    /// Ends the wait that is under way, and all later ones. For a thread that is to stop.
    func wake() {
        var byte: UInt8 = 0
        _ = Foundation.write(wakeWriter, &byte, 1)
    }

    /// Reads up to as many bytes as `bytes` has room for; 0 at the end of the stream.
    func read(into bytes: UnsafeMutableRawBufferPointer) -> Transfer {
        result {
            isSocket
                ? recv(number, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
                : Foundation.read(number, bytes.baseAddress, bytes.count)
        }
    }

    /// Writes a part of `bytes`.
    func write(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        result {
            isSocket
                ? send(number, bytes.baseAddress, bytes.count, Self.sendFlags)
                : Foundation.write(number, bytes.baseAddress, bytes.count)
        }
    }

    private static var sendFlags: Int32 {
        #if canImport(Darwin)
            Int32(MSG_DONTWAIT)
        #else
            Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        #endif
    }

    private func result(_ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count >= 0 { return .bytes(count) }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            case let number: return .failed(errno: number)
            }
        }
    }
}
