import Foundation
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// The command as people and scripts meet it: a process with arguments, signals and an exit code.
@Suite(.serialized) struct RealToolTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func cache(_ words: String...) -> [String] { words + ["--cache", "c", "--root", workspace.root] }

    private func check(everyOneOf keys: [String], isSaved all: Int) throws {
        let stats = try RealTool.run(cache("stats", "--json"))
        #expect(stats.status == 0)
        #expect(stats.output.contains(#""damaged":0"#))
        let listed = try RealTool.run(cache("list"))
        let present = Set(listed.lines)
        #expect(present.count <= all)
        #expect(present.isSuperset(of: keys), "saved, but not listed: \(Set(keys).subtracting(present).prefix(5))")
        let records = try Cache<Line>(name: "c", directory: URL(fileURLWithPath: workspace.root))
        for key in present {
            let line = try records.fetch(forKey: key)
            #expect(line?.id == key && line.map { "k\($0.number)" } == key, "\(key)")
        }
    }

    struct Line: Codable, Encoded {
        let id: String
        let number: Int
        let text: String
    }

    /// Repaired, they would be another key, or another path.
    @Test("Arguments that are not UTF-8 are refused, and nothing is done")
    func bytes() throws {
        let source = try workspace.file("one.ndjson", "{\"id\":\"\u{FFFD}\"}\n")
        #expect(try RealTool.run(cache("warm", source, "--key", "id", "--quiet")).status == 0)
        let options = "--cache c --root '\(workspace.root)'"
        let lines = [
            ("remove $'\\xff' \(options)", 2), ("export '\(workspace.url.path)/'$'out\\xff' \(options)", 2),
            ("get a b --cache $'c\\xed\\xa0\\x80'", 5),
        ]
        for (line, position) in lines {
            let outcome = try RealTool.runInShell("exec \"$TOOL\" \(line)")
            #expect(outcome.status == 2, "\(line): \(outcome)")
            #expect(outcome.errors == "typed-cache: argument \(position) is not UTF-8; keys and paths are text\n")
        }
        #expect(try RealTool.run(cache("list")).lines == ["\u{FFFD}"])
        let names = try FileManager.default.contentsOfDirectory(atPath: workspace.url.path)
        #expect(Set(names) == ["caches", "one.ndjson"])
    }

    private static let lineType = "CacheCommandTests.RealToolTests.Line"

    private func warm(_ source: String) -> [String] {
        cache("warm", source, "--key", "id", "--type", Self.lineType, "--print-keys")
    }

    /// A pipe may give a record, or part of one, and then nothing for long.
    @Test("A record is saved and told as soon as it has come, whatever comes next")
    func slowSource() throws {
        let input = Pipe.make()
        let (process, output, errors) = try RealTool.start(warm("-"), input: input)
        var printed = ""
        for number in 0..<20 {
            let line = #"{"id":"k\#(number)","number":\#(number),"text":"x"}"# + "\n"
            // With the beginning of the next one.
            input.fileHandleForWriting.write(Data((number == 0 ? line : String(line.dropFirst(5))).utf8))
            input.fileHandleForWriting.write(Data(line.prefix(5).utf8))
            while !printed.contains("k\(number)\n") {
                let more = output.fileHandleForReading.availableData
                if more.isEmpty { break }
                printed += String(decoding: more, as: UTF8.self)
            }
            #expect(printed.contains("k\(number)\n"))
        }
        input.fileHandleForWriting.closeFile()
        let rest = output.fileHandleForReading.readDataToEndOfFile()
        // The last record was cut off.
        #expect(try RealTool.finish(process, output: rest, errors: errors).status == 1)
        try check(everyOneOf: (0..<20).map { "k\($0)" }, isSaved: 20)
    }

    @Test(
        "Killed in the middle, a warm has lost nothing that it reported; run again, it completes",
        .enabled(if: isLongRun, "it takes long: in .ci/run only"),
        arguments: 1...2
    )
    func killed(round: Int) throws {
        let count = 12_000
        let source = try workspace.records(count)
        let (process, output, errors) = try RealTool.start(warm(source))
        var printed = Data()
        while printed.count < 2_000 * round, let more = try output.fileHandleForReading.read(upToCount: 4_096) {
            printed += more
        }
        kill(process.processIdentifier, SIGKILL)
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let killed = try RealTool.finish(process, output: printed, errors: errors)
        try #require(killed.wasSignalled && killed.status == SIGKILL)
        // The last line may be cut.
        let reported = killed.output.hasSuffix("\n") ? killed.lines : killed.lines.dropLast()
        #expect(reported.count > 100)
        try check(everyOneOf: reported, isSaved: count)

        let again = try RealTool.run(warm(source))
        #expect(again.status == 0)
        #expect(again.errors.contains("12,000 saved"))
        try check(everyOneOf: (0..<count).map { "k\($0)" }, isSaved: count)
        // Nothing is left of drafts but the lock of the last process, which ended well.
        let drafts = URL(fileURLWithPath: workspace.root).appending(path: "c/.drafts")
        #expect(try FileManager.default.contentsOfDirectory(atPath: drafts.path).count <= 1)
    }

    @Test(
        "An interrupted warm, re-run: resumes, in budget, figures reconcile with the statistics",
        .enabled(if: isLongRun, "it takes long: in .ci/run only")
    )
    func resumed() throws {
        // More than the budget holds, but less is saved until the pipe of printed keys is full.
        let count = 20_000
        let source = try workspace.records(count)
        let budget = 1_600_000
        func warm(_ more: String...) -> [String] { self.warm(source) + ["--max-size", "\(budget)"] + more }
        func size() throws -> (entries: Int, bytes: Int) {
            let stats = try RealTool.run(cache("stats", "--json"))
            let object = try JSONSerialization.jsonObject(with: Data(stats.output.utf8)) as? [String: Any]
            return (object?["entries"] as? Int ?? -1, object?["size"] as? Int ?? -1)
        }

        let (process, output, errors) = try RealTool.start(warm())
        var printed = Data()
        while printed.count < 2_000, let more = try output.fileHandleForReading.read(upToCount: 4_096) {
            printed += more
        }
        kill(process.processIdentifier, SIGKILL)
        printed += output.fileHandleForReading.readDataToEndOfFile()
        _ = try RealTool.finish(process, output: printed, errors: errors)
        let before = try size()
        #expect(before.entries > 100 && before.bytes <= budget)

        // One value for programs, and no keys beside it.
        let again = try RealTool.run(warm("--resume", "--json", "--quiet").filter { $0 != "--print-keys" })
        #expect(again.status == 0)
        let summary = again.lines.last.flatMap {
            try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
        }
        let saved = summary?["saved"] as? Int ?? -1
        let present = summary?["present"] as? Int ?? -1
        #expect(saved + present == count)
        #expect(present > 0 && present <= before.entries)
        let after = try size()
        #expect(after.bytes <= budget && after.bytes > budget / 2)
        // Every entry that is there was there before or was saved now; any other was evicted for those.
        #expect(after.entries <= before.entries + saved)
        try check(everyOneOf: [], isSaved: count)
    }

    @Test("Interrupted, a warm keeps what it saved, says how much, and ends by the signal")
    func interrupted() throws {
        let source = try workspace.records(20_000)
        let (process, output, errors) = try RealTool.start(warm(source))
        var printed = try output.fileHandleForReading.read(upToCount: 4_096) ?? Data()
        kill(process.processIdentifier, SIGINT)
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: printed, errors: errors)
        #expect(outcome.wasSignalled && outcome.status == SIGINT)
        #expect(outcome.errors.contains("interrupted"))
        #expect(outcome.lines.count < 20_000)
        try check(everyOneOf: outcome.lines, isSaved: 20_000)
        #expect(try RealTool.run(cache("list")).lines.count == outcome.lines.count)
    }

    @Test(
        "A full disk ends a warm with its reason, and what was saved is there",
        .enabled(if: SmallVolume.isPossible, "a small volume cannot be mounted here, which takes root")
    )
    func fullDisk() throws {
        let disk = workspace.url.appending(path: "caches")
        try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
        try SmallVolume.mount("size=1m", at: disk.path) {
            let outcome = try RealTool.run(warm(workspace.records(20_000)))
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("No space left"), "\(outcome.errors)")
            #expect(outcome.lines.count > 10)
            try check(everyOneOf: outcome.lines, isSaved: 20_000)
        }
    }

    @Test("A look at a cache is no change of it, even one that leaves an index")
    func lastChange() throws {
        func change() throws -> Substring {
            let text = try RealTool.run(["caches", "--root", workspace.root, "--json"]).output
            return try #require(text.firstMatch(of: /"changedAt": "([^"]+)"/)).output.1
        }
        let warm = try warm(workspace.records(3)) + ["--layout", "packed"]
        #expect(try RealTool.run(warm).status == 0)
        let first = try change()
        // The next one makes it again.
        try FileManager.default.removeItem(atPath: workspace.root + "/c/index")
        for _ in 0..<3 { #expect(try change() == first) }
        #expect(FileManager.default.fileExists(atPath: workspace.root + "/c/index"))
        #expect(try RealTool.run(cache("verify")).status == 0)
        #expect(try change() == first)
        #expect(try RealTool.run(warm).status == 0)
        #expect(try change() > first)
    }

    @Test("Exit codes: 0 done, 1 failed, 2 not understood; nothing but data on standard output")
    func exitCodes() throws {
        let good = try workspace.file("good.ndjson", "{\"id\":\"a\",\"n\":1}\n")
        let bad = try workspace.file("bad.ndjson", "{\"id\":\"a\",\"n\":1}\n{\"n\":2}\nnonsense\n")
        let cases: [([String], Int32, String, String)] = [
            (cache("warm", good, "--key", "id"), 0, "", "1 saved"),
            (cache("warm", bad, "--key", "id"), 1, "", "line 2"),
            (cache("warm", bad, "--key", "id", "--skip-invalid"), 0, "", "2 invalid"),
            (cache("get", "a"), 0, "\"n\": 1", ""),
            (cache("get", "b"), 1, "", "no entry"),
            (cache("get"), 2, "", "KEY"),
            (cache("clear"), 2, "", "--yes"),
            (cache("remove", "a"), 0, "", ""),
            (cache("verify"), 0, "0 damaged", ""),
            (cache("verify", "DIR"), 2, "", "unexpected argument"),
            (cache("export", workspace.root + "/out"), 0, "exported", ""),
            (cache("export", workspace.root + "/out"), 1, "", "--force"),
            (cache("export"), 2, "", "DIR"),
            (cache("import", workspace.root + "/out", "--keep"), 0, "imported", ""),
            (cache("import", workspace.root + "/missing"), 1, "", "No such file"),
            (cache("compact"), 0, "now", ""),
            (["lst"], 2, "", "did you mean list?"),
            (["list", "--cache", "none", "--root", workspace.root], 1, "", "no cache 'none'"),
            (["list", "--cache", "../x", "--root", workspace.root], 2, "", "name"),
            (["dump", workspace.root + "/missing"], 1, "", "No such file"),
            (["dump", good], 0, "root", ""),
            (["dump", "/etc/passwd"], 1, "", "neither a property list, an archive nor a cache's entry"),
            (["--help"], 0, "warm", ""),
            (["--version"], 0, "typed-cache", ""),
        ]
        for (arguments, status, output, errors) in cases {
            let outcome = try RealTool.run(arguments)
            #expect(outcome.status == status && !outcome.wasSignalled, "\(arguments): \(outcome.errors)")
            if output.isEmpty { #expect(outcome.output.isEmpty, "\(arguments)") }
            #expect(output.isEmpty || outcome.output.contains(output), "\(arguments)")
            #expect(errors.isEmpty || outcome.errors.contains(errors), "\(arguments): \(outcome.errors)")
            if status == 0, errors.isEmpty { #expect(outcome.errors.isEmpty, "\(arguments)") }
        }
    }
}
