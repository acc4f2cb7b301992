import Foundation

/// Lines for whoever started this process, each written at once.
///
/// Whoever is gone misses nothing: that is no reason to fail.
enum Terminal {
    /// A line on standard output: results.
    static func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }

    /// A line on standard error: what is going on.
    static func tell(_ line: String) { try? FileHandle.standardError.write(contentsOf: Data((line + "\n").utf8)) }
}
