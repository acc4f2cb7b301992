import Foundation
import TestSupport
import Testing

/// The built command, run as a process of its own.
struct RealTool {
    struct Outcome {
        let status: Int32
        let wasSignalled: Bool
        let output: String
        let errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Beside the bundle that holds these tests.
    static var executable: URL {
        get throws {
            let tool = products.appending(path: "typed-cache")
            try #require(FileManager.default.isExecutableFile(atPath: tool.path), "no command at \(tool.path)")
            return tool
        }
    }

    // On Apple platforms the process is one of the toolchain's.
    private static var products: URL {
        #if canImport(Darwin)
            Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            Bundle.main.bundleURL
        #endif
    }

    private final class Marker {}

    /// Processes hear SIGINT, though jobs of a shell script start with the signal ignored, and pass that on. Once and for
    /// all: tests that set it and set it back would do so at the same time.
    private static let hearsInterrupts: Void = { _ = signal(SIGINT, SIG_DFL) }()

    static func start(_ arguments: [String], input: URL? = nil) throws -> (Process, output: Pipe, errors: URL) {
        let input = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        return try start(arguments, standardInput: input)
    }

    /// - Parameter ignoresInterrupts: whether the process starts with SIGINT ignored.
    static func start(
        _ arguments: [String],
        input: Pipe,
        ignoresInterrupts: Bool = false
    ) throws -> (Process, output: Pipe, errors: URL) {
        try start(arguments, standardInput: input, ignoresInterrupts: ignoresInterrupts)
    }

    /// - Parameter variables: are added to the environment of the tests; an empty one is taken away.
    private static func start(
        _ arguments: [String],
        standardInput: Any,
        variables: [String: String] = [:],
        ignoresInterrupts: Bool = false
    ) throws -> (Process, output: Pipe, errors: URL) {
        _ = hearsInterrupts
        let process = Process()
        if ignoresInterrupts {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", #"trap '' INT; exec "$0" "$@""#, try executable.path] + arguments
        } else {
            process.executableURL = try executable
            process.arguments = arguments
        }
        if !variables.isEmpty {
            process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }.filter {
                !$1.isEmpty
            }
        }
        let output = Pipe.make()
        // A file, so that a process that writes much never waits for a reader.
        let errors = TestDirectory.newPath()
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = standardInput
        try process.start()
        return (process, output, errors)
    }

    static func run(_ arguments: [String], input: URL? = nil) throws -> Outcome {
        let (process, output, errors) = try start(arguments, input: input)
        let text = output.fileHandleForReading.readDataToEndOfFile()
        return try finish(process, output: text, errors: errors)
    }

    static func run(_ arguments: [String], variables: [String: String]) throws -> Outcome {
        let (process, output, errors) = try start(
            arguments,
            standardInput: FileHandle.nullDevice,
            variables: variables
        )
        let text = output.fileHandleForReading.readDataToEndOfFile()
        return try finish(process, output: text, errors: errors)
    }

    /// Runs a line of bash, in which `$TOOL` is the command.
    static func runInShell(_ line: String) throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", line]
        process.environment = ProcessInfo.processInfo.environment.merging(["TOOL": try executable.path]) { $1 }
        let output = Pipe.make()
        let errors = TestDirectory.newPath()
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        process.standardOutput = output
        process.standardError = try FileHandle(forWritingTo: errors)
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        return try finish(process, output: text, errors: errors)
    }

    /// Whether the process handles SIGINT by now.
    static func hasTrap(_ process: pid_t) -> Bool {
        #if os(Linux)
            guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
                let line = status.firstMatch(of: /SigCgt:\s*([0-9a-f]+)/),
                let set = UInt64(line.output.1, radix: 16)
            else { return false }
            return set & 1 << UInt64(SIGINT - 1) != 0
        #else
            usleep(50_000)
            return true
        #endif
    }

    /// Waits until the process handles SIGINT, or has ended.
    static func waitForTrap(_ process: Process) throws {
        try wait(until: !process.isRunning || hasTrap(process.processIdentifier))
    }

    /// Interrupts a process once it waits for a pipe: to be opened at the other end, or for more bytes.
    static func interruptWaiting(_ process: Process) throws {
        try waitForTrap(process)
        #if os(Linux)
            // `S` is the state of a thread that waits; for a moment, it may wait for something else.
            var waitCount = 0
            func isWaiting() -> Bool {
                let file = "/proc/\(process.processIdentifier)/stat"
                let line = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                waitCount = line.contains(") S ") ? waitCount + 1 : 0
                return waitCount == 50
            }
            try wait(until: !process.isRunning || isWaiting())
        #else
            usleep(100_000)
        #endif
        kill(process.processIdentifier, SIGINT)
    }

    static func finish(_ process: Process, output: Data, errors: URL) throws -> Outcome {
        process.waitUntilExit()
        defer { try? FileManager.default.removeItem(at: errors) }
        return Outcome(
            status: process.terminationStatus,
            wasSignalled: process.terminationReason == .uncaughtSignal,
            output: String(decoding: output, as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        )
    }
}

/// A folder of a test's own, removed when the test ends.
final class Workspace {
    let url = TestDirectory.newPath()

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String, _ text: String) throws -> String {
        let file = url.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    /// `count` records with the keys `k0`, `k1`, ….
    func records(_ count: Int) throws -> String {
        let lines = (0..<count).map { #"{"id":"k\#($0)","number":\#($0),"text":"record number \#($0)"}"# }
        return try file("records.ndjson", lines.joined(separator: "\n") + "\n")
    }

    var root: String { url.appending(path: "caches").path }
}
