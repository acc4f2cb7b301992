import Foundation

/// The settings, scratch folders and measuring functions of a suite, and its findings.
package final class Context {
    /// Whether a rough and quick answer is wanted: suites then do the smaller sizes only.
    package let isQuick: Bool
    /// Where traces of cache accesses are, if anywhere: `TYPED_CACHE_TRACES`.
    package let traces: URL?

    let suite: String
    let effort: Effort
    private let folders: ScratchFolders
    private let line: ProgressLine
    private(set) var findings: [Finding] = []

    init(suite: String, isQuick: Bool, traces: URL?, folders: ScratchFolders, line: ProgressLine) {
        self.suite = suite
        self.isQuick = isQuick
        self.traces = traces
        effort = isQuick ? .quick : .full
        self.folders = folders
        self.line = line
    }

    /// Shows the current work on a terminal.
    package func progress(_ text: String) {
        line.show("\(suite): \(text)")
    }

    /// A new, empty folder that is removed at the end of the run.
    ///
    /// - Parameter inMemory: whether it should be on a file system in memory; it is on disk where there is none.
    /// - Throws: if it cannot be made.
    package func makeFolder(_ name: String, inMemory: Bool = false) throws -> URL {
        try folders.make(name, inMemory: inMemory)
    }

    /// Records an outcome that none of the other calls makes.
    package func record(
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        isOurs: Bool = false,
        outcome: Outcome
    ) {
        findings.append(
            Finding(
                suite: suite,
                work: work,
                parameters: parameters,
                subject: subject,
                isOurs: isOurs,
                outcome: outcome
            )
        )
    }
}
