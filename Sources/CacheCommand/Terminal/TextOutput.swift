import Foundation

/// Where data goes.
protocol TextOutput: AnyObject {
    /// Takes `text` in; it may be held back until ``flush()``, but never cut within one call.
    func write(_ text: String) throws(OutputError)

    /// Takes bytes in that are not text.
    func write(bytes: [UInt8]) throws(OutputError)

    /// Writes the text that was held back.
    func flush() throws(OutputError)

    /// How many columns the terminal has; `nil` if it is not one.
    var columns: Int? { get }
}

extension TextOutput {
    var columns: Int? { nil }
}

/// Why output could not be written.
enum OutputError: Error, Sendable, Equatable {
    /// The reader has closed the output: no fault to report.
    case closed
    case failed(errno: Int32)
}

/// Standard output behind a buffer; on a terminal every write shows at once.
final class StandardOutput: TextOutput {
    private static let capacity = 16 << 10

    private var buffer: [UInt8] = []
    private let descriptor: Int32
    private let isTerminal: Bool
    private let isHeldBack: Bool

    /// A closed pipe, and a file that reaches the limit of its size, are errors of `write` from here on, where they would
    /// have been signals that kill.
    ///
    /// - Parameter isHeldBack: whether text stays in the buffer until it is full, on a terminal too.
    init(descriptor: Int32 = STDOUT_FILENO, isHeldBack: Bool = false) {
        self.isHeldBack = isHeldBack
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    var columns: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func write(_ text: String) throws(OutputError) {
        buffer.append(contentsOf: text.utf8)
        try flushIfDue()
    }

    func write(bytes: [UInt8]) throws(OutputError) {
        buffer.append(contentsOf: bytes)
        try flushIfDue()
    }

    private func flushIfDue() throws(OutputError) {
        if isTerminal && !isHeldBack || buffer.count >= Self.capacity { try flush() }
    }

    func flush() throws(OutputError) {
        var written = 0
        // Text that cannot be written now cannot be written later either.
        defer { buffer.removeAll(keepingCapacity: true) }
        while written < buffer.count {
            let count = buffer.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                throw errno == EPIPE ? .closed : .failed(errno: errno)
            }
        }
    }
}
