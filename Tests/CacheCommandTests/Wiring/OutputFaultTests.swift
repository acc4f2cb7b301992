import Foundation
import Sealing
import TestSupport
import Testing

@testable import CacheCommand

/// Each subcommand as a process with a standard output that is closed, full, or no longer read.
@Suite(.serialized, .enabled(if: isLongRun, "it takes long: in .ci/run only")) struct OutputFaultTests {
    private let workspace: Workspace

    init() throws {
        workspace = try Workspace()
        let lines = (0..<40).map { #"{"id":"k\#($0)","text":"\#(String(repeating: "x", count: 100))"}"# }
        let source = try workspace.file("records.ndjson", lines.joined(separator: "\n"))
        for name in ["c", "d"] {
            let words = ["warm", source, "--key", "id", "--cache", name, "--root", workspace.root, "--quiet"]
            #expect(try RealTool.run(words).status == 0)
        }
        try workspace.warmEncrypted(from: source)
        _ = try workspace.file("a.json", #"{"a":[1,2,3]}"#)
    }

    /// A command line of each subcommand that writes to standard output.
    private static let lines: [String: String] = [
        "warm": "warm $DIR/records.ndjson --key id --cache c --root $ROOT --print-keys",
        "caches": "caches --root $ROOT", "list": "list --cache c --root $ROOT",
        "get": "get k1 --cache c --root $ROOT",
        "cat": "cat --cache c --root $ROOT", "diff": "diff c d --root $ROOT",
        "stats": "stats --cache c --root $ROOT",
        "verify": "verify --cache c --root $ROOT", "export": "export $DIR/out --cache c --root $ROOT --force",
        "import": "import $DIR/in --cache c --root $ROOT",
        "remove": "remove k1 k2 --cache c --root $ROOT --dry-run",
        "trim": "trim --max-size 1G --cache c --root $ROOT", "compact": "compact --cache c --root $ROOT",
        "rekey": "rekey --cache e --root $ROOT --key-env KEY",
        "clear": "clear --cache d --root $ROOT --yes", "dump": "dump k1 --cache c --root $ROOT",
        "convert": "convert $DIR/a.json --to xml -o -", "lint": "lint $DIR/a.json",
        "completions": "completions bash", "manual": "manual", "help": "help",
        "complete": "complete --shell fish -- l",
    ]

    /// Subcommands that print nothing where nothing is to be told.
    private static let silent: Set<String> = ["diff"]

    private func run(_ name: String, _ redirection: String) throws -> (status: Int32, errors: String) {
        let line = try #require(Self.lines[name])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", "trap - PIPE; \"$TOOL\" \(line) \(redirection)"]
        process.environment = [
            "TOOL": try RealTool.executable.path, "DIR": workspace.url.path, "ROOT": workspace.root,
            "PATH": "/usr/bin:/bin", "KEY": Workspace.key,
        ]
        let errors = Pipe.make()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    @Test("Each subcommand has a command line here")
    func complete() {
        #expect(Self.lines.count >= Command.subcommands.count - 3)
        for name in Self.lines.keys { #expect(Command.subcommands.contains { $0.name == name }) }
    }

    @Test("Closed, full and broken outputs end each subcommand as they should", arguments: lines.keys.sorted())
    func faults(name: String) throws {
        if name == "rekey", !CipherAlgorithm.isAvailable { return }
        _ = try run(name == "import" ? "export" : name, ">/dev/null")
        if name == "import" {
            try FileManager.default.moveItem(
                at: workspace.url.appending(path: "out"),
                to: workspace.url.appending(path: "in")
            )
        }
        // The output that all of it is for is lost: that is a failure, told once.
        for (redirection, reason) in [(">&-", "Bad file descriptor"), (">/dev/full", "No space left on device")] {
            let outcome = try run(name, redirection)
            if Self.silent.contains(name) {
                #expect(outcome.status <= 1)
            } else {
                #expect(outcome.status == 1, "\(name) \(redirection): \(outcome.errors)")
                #expect(outcome.errors.contains(reason), "\(name) \(redirection): \(outcome.errors)")
            }
            #expect(outcome.errors.split(separator: "\n").count <= 2, "\(name) \(redirection): \(outcome.errors)")
        }
        // A reader that has seen enough, as head has, is not a failure.
        let broken = try run(name, "| true; exit ${PIPESTATUS[0]}")
        #expect(broken.status == 0, "\(name): \(broken.errors)")
        #expect(broken.errors.allSatisfy { $0 != "!" } && !broken.errors.contains("cannot be written"))
    }
}
