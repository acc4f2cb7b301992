@testable import CacheCommand

/// Keeps the text that standard error would show.
final class MemoryErrors: ErrorOutput {
    let columns: Int?
    private(set) var text = ""

    init(columns: Int?) {
        self.columns = columns
    }

    func write(_ text: String) {
        self.text += text
    }

    var lines: [Substring] { text.split(separator: "\n") }
}
