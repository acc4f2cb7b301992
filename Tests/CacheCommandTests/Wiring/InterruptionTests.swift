import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand

/// Subcommands that work for long, as processes that ctrl-C ends in the middle.
@Suite(.serialized) struct InterruptionTests {
    private static let count = 250
    private static let largeCount = 8

    private let workspace: Workspace
    private let keys: [String]

    init() throws {
        workspace = try Workspace()
        keys = (0..<Self.count).map { "k\($0)/" + String(repeating: "x", count: 900) }
    }

    private func options(_ cache: String) -> [String] { ["--cache", cache, "--root", workspace.root] }

    /// A cache of which a list takes more than a pipe holds, and another one with nothing in it.
    private func makeKeys() throws {
        let records = keys.map { #"{"id":"\#($0)"}"# }.joined(separator: "\n")
        for (name, text) in [("c", records), ("d", #"{"id":"other"}"#)] {
            let source = try workspace.file("\(name).ndjson", text + "\n")
            try #require(RealTool.run(["warm", source, "--key", "id"] + options(name)).status == 0)
        }
    }

    /// A cache of large entries, each of which takes long.
    private func makeLargeEntries() throws {
        let random = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        for number in 0..<Self.largeCount {
            let data = try #require(try random.read(upToCount: 900 << 10))
            let archive = try KeyedArchiver.archivedData(withRootObject: data, requiringSecureCoding: false)
            try DiskCache(workspace, "large").save([UInt8](archive), "k\(number)")
        }
    }

    private func checkSound(_ cache: String, count: Int) throws {
        let verified = try RealTool.run(["verify"] + options(cache))
        #expect(verified.output == "\(count) sound, 0 expired, 0 damaged\n")
        let drafts = workspace.root + "/\(cache)/.drafts"
        #expect(try FileManager.default.contentsOfDirectory(atPath: drafts).count <= 1)
    }

    // MARK: Output

    private static let listings = [["list"], ["list", "--null"], ["cat"], ["diff", "c", "d"]]

    @Test("What is printed ends after a whole line", arguments: isLongRun ? listings : [listings[0], listings[3]])
    func listing(words: [String]) throws {
        try makeKeys()
        let isDiff = words[0] == "diff"
        let arguments = words + (isDiff ? ["--root", workspace.root] : options("c"))
        let (process, output, errors) = try RealTool.start(arguments)
        // It has begun, and cannot end before all of this is read: the pipe has no room for it.
        var printed = try output.fileHandleForReading.read(upToCount: 1_000) ?? Data()
        kill(process.processIdentifier, SIGINT)
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: printed, errors: errors)
        #expect(outcome.wasSignalled && outcome.status == SIGINT && outcome.errors.isEmpty, "\(outcome.errors)")
        let end: Character = words.contains("--null") ? "\0" : "\n"
        #expect(outcome.output.last == end)
        let lines = outcome.output.split(separator: end).map(String.init)
        let all = keys.map { key in
            switch words[0] {
            case "cat": #"{"id":"\#(key)"}"#
            case "diff": "- \(key)"
            default: key
            }
        }
        #expect(Set(lines).isSubset(of: all) && (1..<Self.count).contains(lines.count))
        try checkSound("c", count: Self.count)
    }

    // MARK: Input

    private static let readers = [
        ["get", "-", "--json", "--cache", "c"], ["remove", "-", "--dry-run", "--cache", "c"], ["dump", "-"],
        ["lint", "-"], ["convert", "-", "--to", "xml", "-o", "-"],
    ]

    @Test("A warm whose source gives nothing more ends, with all that it has told")
    func waitingWarm() throws {
        let input = Pipe.make()
        let (process, output, errors) = try RealTool.start(
            ["warm", "-", "--key", "id", "--print-keys"] + options("c"),
            input: input
        )
        let records = (0..<50).map { #"{"id":"k\#($0)"}"# + "\n" }.joined()
        // The last record is cut, and its rest never comes.
        input.fileHandleForWriting.write(Data((records + #"{"id":"cut"#).utf8))
        var printed = Data()
        while printed.filter({ $0 == UInt8(ascii: "\n") }).count < 50 {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            printed += more
        }
        kill(process.processIdentifier, SIGINT)
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: printed, errors: errors)
        #expect(outcome.wasSignalled && outcome.status == SIGINT && outcome.errors.contains("interrupted"))
        #expect(Set(outcome.lines) == Set((0..<50).map { "k\($0)" }))
        try checkSound("c", count: 50)
        input.fileHandleForWriting.closeFile()
    }

    @Test("A signal that was ignored from the start stays ignored")
    func ignoredSignal() throws {
        let input = Pipe.make()
        let words = ["warm", "-", "--key", "id", "--print-keys"] + options("c")
        let (process, output, errors) = try RealTool.start(words, input: input, ignoresInterrupts: true)
        input.fileHandleForWriting.write(Data((#"{"id":"a"}"# + "\n").utf8))
        var printed = try output.fileHandleForReading.read(upToCount: 2) ?? Data()
        #expect(!RealTool.hasTrap(process.processIdentifier))
        kill(process.processIdentifier, SIGINT)
        input.fileHandleForWriting.write(Data((#"{"id":"b"}"# + "\n").utf8))
        input.fileHandleForWriting.closeFile()
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: printed, errors: errors)
        #expect(!outcome.wasSignalled && outcome.status == 0 && outcome.lines == ["a", "b"], "\(outcome)")
        try checkSound("c", count: 2)
    }

    @Test(
        "Keys and documents that never come end the command by the signal, with what it has told",
        arguments: isLongRun ? readers : Array(readers.prefix(2))
    )
    func waitingInput(words: [String]) throws {
        let hasKeys = words.contains("--cache")
        if hasKeys {
            let source = try workspace.file("c.ndjson", #"{"id":"k0"}"# + "\n")
            try #require(RealTool.run(["warm", source, "--key", "id"] + options("c")).status == 0)
        }
        let input = Pipe.make()
        let (process, output, errors) = try RealTool.start(
            words + (hasKeys ? ["--root", workspace.root] : []),
            input: input
        )
        input.fileHandleForWriting.write(Data("k0\n".utf8))
        try RealTool.interruptWaiting(process)
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: text, errors: errors)
        #expect(outcome.wasSignalled && outcome.status == SIGINT && outcome.errors.isEmpty, "\(outcome)")
        #expect(outcome.output == (words[0] == "get" ? "{\"id\":\"k0\"}\n" : words[0] == "remove" ? "k0\n" : ""))
        input.fileHandleForWriting.closeFile()
    }

    // MARK: Work

    /// Runs a subcommand until it was interrupted in the middle: a fast one may be done before the signal comes.
    private func interrupted(_ arguments: [String], before: () throws -> Void = {}) throws -> RealTool.Outcome {
        for _ in 0..<10 {
            try before()
            let (process, output, errors) = try RealTool.start(arguments)
            try RealTool.waitForTrap(process)
            kill(process.processIdentifier, SIGINT)
            let text = output.fileHandleForReading.readDataToEndOfFile()
            let outcome = try RealTool.finish(process, output: text, errors: errors)
            if outcome.wasSignalled { return outcome }
        }
        Issue.record("\(arguments[0]) was always done before the signal came")
        return try RealTool.run(arguments)
    }

    @Test("A verify tells how far it came, and repairs nothing")
    func verify() throws {
        try makeLargeEntries()
        try DiskCache(workspace, "large").damageFirst()
        let outcome = try interrupted(["verify", "--repair"] + options("large"))
        #expect(outcome.status == SIGINT && outcome.output.contains("interrupted"), "\(outcome.output)")
        #expect(!outcome.output.contains("removed") && outcome.errors.isEmpty)
        let verified = try RealTool.run(["verify"] + options("large"))
        #expect(verified.output.hasSuffix("\(Self.largeCount - 1) sound, 0 expired, 1 damaged\n"))
    }

    @Test("A report leaves the file that was there, and no other")
    func report() throws {
        try makeLargeEntries()
        let folder = workspace.url.appending(path: "pages")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let page = folder.appending(path: "report.html")
        let outcome = try interrupted(["report", "-o", page.path] + options("large")) {
            try Data("former".utf8).write(to: page)
        }
        #expect(outcome.status == SIGINT && outcome.output.isEmpty && outcome.errors.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["report.html"])
        #expect(try String(contentsOf: page, encoding: .utf8) == "former")
        try checkSound("large", count: Self.largeCount)
    }

    @Test("An export leaves whole files alone, which the next one goes on from")
    func export() throws {
        try makeLargeEntries()
        let folder = workspace.url.appending(path: "out").path
        let outcome = try interrupted(["export", folder] + options("large")) {
            try? FileManager.default.removeItem(atPath: folder)
        }
        #expect(outcome.status == SIGINT && outcome.output.contains("interrupted") && outcome.errors.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        let files = names.filter { $0.hasSuffix(".plist") }
        #expect(files.count < Self.largeCount && Set(names) == Set(files + ["index.ndjson"]))
        let imported = try RealTool.run(["import", folder, "--json"] + options("copy"))
        #expect(imported.status == 1 && imported.output.contains(#""imported":\#(files.count),"#), "\(imported)")
        #expect(try RealTool.run(["export", folder, "--force"] + options("large")).status == 0)
        #expect(try RealTool.run(["import", folder] + options("copy")).status == 0)
        try checkSound("copy", count: Self.largeCount)
        try checkSound("large", count: Self.largeCount)
    }

    @Test(
        "Interrupted at any instant, a conversion leaves the old file or the new one",
        .enabled(
            if: isLongRun,
            "it takes long: in .ci/run only"
        )
    )
    func convert() throws {
        let folder = workspace.url.appending(path: "documents")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appending(path: "a.json")
        let former = "[" + (0..<2_000).map { "\($0)" }.joined(separator: ",") + "]"
        for round in 0..<150 {
            try Data(former.utf8).write(to: file)
            let (process, output, errors) = try RealTool.start(["convert", file.path, "--to", "xml"])
            usleep(UInt32(4_000 + round * 200))
            kill(process.processIdentifier, SIGINT)
            let text = output.fileHandleForReading.readDataToEndOfFile()
            _ = try RealTool.finish(process, output: text, errors: errors)
            let content = try String(contentsOf: file, encoding: .utf8)
            #expect(content == former || content.hasSuffix("</plist>\n"), "round \(round)")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.json"],
                "round \(round)"
            )
        }
    }
}
