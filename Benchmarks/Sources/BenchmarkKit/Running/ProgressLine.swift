import Foundation

/// Shows the current work on standard error: on one line that changes, or outside a terminal a line per suite.
final class ProgressLine {
    private let isTerminal = isatty(2) == 1

    func begin(suite: String, summary: String) {
        if isTerminal { return show("\(suite): \(summary)") }
        write("\(suite): \(summary)\n")
    }

    func show(_ text: String) {
        guard isTerminal else { return }
        // Short enough not to wrap, which could not be taken back.
        write("\r\u{1B}[K\(text.prefix(78))")
    }

    /// Takes the line away.
    func clear() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
