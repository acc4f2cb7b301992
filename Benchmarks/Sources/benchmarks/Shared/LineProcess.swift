import Foundation

/// A program that reads lines and answers each by lines.
final class LineProcess {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    /// - Parameter environment: variables beside those of this process.
    /// - Throws: if it cannot be started.
    init(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(filePath: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit { end() }

    func send(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// Waits for a line; `nil` once the program has ended.
    func readLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: 10) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeSubrange(...end)
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            unread.append(more)
        }
    }

    /// Sends a line, and waits for the words of the line that answers it.
    ///
    /// - Throws: if the program has ended.
    func ask(_ line: String) throws -> [Substring] {
        try send(line)
        return try answer()
    }

    /// Waits for the words of a line.
    ///
    /// - Throws: if the program has ended.
    func answer() throws -> [Substring] {
        guard let answer = readLine() else {
            throw BenchmarkError("\(process.executableURL?.lastPathComponent ?? "") has ended early")
        }
        return answer.split(separator: " ")
    }

    /// Ends the program without notice.
    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func end() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }
}
