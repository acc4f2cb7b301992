import Foundation

/// Lines for whoever started this process, each written at once.
enum Terminal {
    /// A line on standard output: results.
    static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// A line on standard error: what is going on.
    static func tell(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
}
