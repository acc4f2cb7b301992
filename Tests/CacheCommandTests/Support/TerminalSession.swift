import Foundation
import TestSupport
import Testing

/// A terminal with a shell in it, by tmux.
final class TerminalSession {
    /// Whether tmux is there. Scripts/test installs it.
    static let isAvailable = (try? run(["tmux", "-V"])) != nil

    private let socket = "typed-cache-\(UUID().uuidString.prefix(8))"
    private let folder: URL

    /// Starts a shell script in a terminal of a size, and leaves the terminal open when it has ended.
    init(columns: Int, rows: Int, script: String, in folder: URL) throws {
        self.folder = folder
        let file = folder.appending(path: "script-\(socket).sh")
        try Data((script + "\nsleep 1000\n").utf8).write(to: file)
        try tmux([
            "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "/bin/bash --norc --noprofile \(file.path)",
        ])
        try tmux(["set-option", "-g", "status", "off"])
        try resize(columns: columns, rows: rows)
    }

    // The server ends with its only session. It may have been started with signals blocked, by which it is ended itself.
    deinit { _ = try? tmux(["kill-session"]) }

    func resize(columns: Int, rows: Int) throws {
        try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// Types keys by tmux' names.
    func press(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

    /// The lines of the screen, without spaces at their ends.
    func screen(hasColor: Bool = false) throws -> [String] {
        try tmux(["capture-pane", "-p"] + (hasColor ? ["-e"] : [])).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        .map(String.init)
    }

    /// Waits until the screen is as wanted, and returns it.
    func screen(
        _ comment: Comment,
        sourceLocation: SourceLocation = #_sourceLocation,
        until isWanted: ([String]) -> Bool
    ) throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            let lines = try screen()
            if isWanted(lines) { return lines }
            if ContinuousClock.now > deadline {
                Issue.record("\(comment): \(lines.joined(separator: "\n"))", sourceLocation: sourceLocation)
                return lines
            }
            usleep(20_000)
        }
    }

    @discardableResult
    private func tmux(_ arguments: [String]) throws -> String {
        try Self.run(["tmux", "-L", socket, "-f", "/dev/null", "-u"] + arguments, in: folder)
    }

    /// tmux' server goes on after its first command, and must not hold the files by which the end of that is noticed.
    private static let withoutDescriptors = """
        (for file in /dev/fd/*; do file=${file##*/}; if ((file > 2)); then eval "exec $file>&-"; fi; done; exec "$@")
        exit $?
        """

    private static func run(_ arguments: [String], in folder: URL? = nil) throws -> String {
        let process = Process()
        // The sessions end with this process, which ends all that works in its folders.
        if let folder { process.currentDirectoryURL = folder }
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", withoutDescriptors, "bash"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["LC_ALL": "C.UTF-8"]) { $1 }
        // A file: the server, which the first command starts, keeps the output open.
        let output = TestDirectory.newPath()
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments.joined(separator: " ")) failed")
        return String(decoding: try Data(contentsOf: output), as: UTF8.self)
    }
}
