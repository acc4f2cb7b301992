import Foundation

/// Other programs, run to their end.
package enum Program {
    /// Runs a program.
    ///
    /// - Parameters:
    ///   - command: a name that is looked up in `PATH`, and its arguments.
    ///   - hidesErrors: whether its standard error is discarded.
    /// - Returns: its standard output; `nil` if it cannot be started or fails.
    package static func output(of command: [String], hidesErrors: Bool = false) -> String? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        if hidesErrors { process.standardError = FileHandle.nullDevice }
        do {
            try process.run()
        } catch {
            return nil
        }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text : nil
    }
}
