import Foundation

/// Where messages and progress go.
protocol ErrorOutput: AnyObject {
    /// How many columns the terminal has; `nil` if it is not one.
    var columns: Int? { get }

    /// Shows `text` at once. Failing is silent, since a message about a lost message would not help.
    func write(_ text: String)
}

extension ErrorOutput {
    /// Shows one line that begins with the command's name.
    func report(_ message: some CustomStringConvertible) {
        write("typed-cache: \(message)\n")
    }
}

/// Standard error, unbuffered.
final class StandardError: ErrorOutput {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    var columns: Int? {
        guard isTerminal else { return nil }
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }
}
