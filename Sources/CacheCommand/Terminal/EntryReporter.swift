/// Tells people how far work on a cache's entries has come, and the faults of single entries.
struct EntryReporter {
    /// How many faults are told one by one.
    static let longestList = 20

    private let errors: any ErrorOutput
    private var bar: ProgressBar
    private var count = 0

    init(_ errors: any ErrorOutput) {
        self.errors = errors
        bar = ProgressBar(on: errors)
    }

    mutating func advanced(_ progress: Progress) { bar.update(progress) }

    /// Tells the fault of one entry or file; the work goes on.
    mutating func complain(_ message: some CustomStringConvertible) {
        count += 1
        guard count <= Self.longestList + 1 else { return }
        bar.erase()
        errors.report(count <= Self.longestList ? "\(message)" : "further faults are only counted")
    }

    /// Takes the progress bar away.
    mutating func finish() { bar.erase() }
}
