import Foundation

/// Lines for the parent process, each written at once.
///
/// A parent that has ended cannot read them, which is no reason to fail.
enum Terminal {
    /// A line on standard output: results.
    static func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }

    /// A line on standard error: progress.
    static func tell(_ line: String) { try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) }
}
