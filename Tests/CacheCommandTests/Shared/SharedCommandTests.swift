import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing

@testable import CacheCommand

/// The subcommands that work on servers, on a real one.
@Suite(.enabled(if: RedisServer.isInstalled, "\(ServerCache.isMissing)"), .serialized)
struct SharedCommandTests {
    private let workspace: Workspace
    private let cache: ServerCache

    init() throws {
        workspace = try Workspace()
        cache = try ServerCache()
    }

    private var folder: String { workspace.url.appending(path: "out").path }

    @Test("Warmed records are listed, got, counted, verified, removed and cleared")
    func everyCall() throws {
        let warm = try cache.succeed(
            "warm",
            "-",
            "--key",
            "id",
            "--tag",
            "t",
            "--ttl",
            "1h",
            input: ServerCache.records(1_000)
        )
        #expect(warm.errors.text.contains("1,000 saved"))
        #expect(try cache.entryNames().count == 1_000)
        #expect(Set(try cache.succeed("list").output.lines) == Set((0..<1_000).map { "k\($0)" }))
        let listed = try cache.succeed("list", "--json", "--tags", "--match", "k99?").output.text
        #expect(listed.matches(of: /"tags": ?\[\s*"t"\s*\]/).count == 10, "\(listed)")
        #expect(
            try cache.succeed("get", "k7", "--json").output.text == #"{"id":"k7","number":7,"text":"record 7"}"#
                + "\n"
        )
        let stats = try cache.succeed("stats", "--json").output.text
        #expect(stats.contains(#""entries":1000"#) && stats.contains(#""foreign":0"#), "\(stats)")
        #expect(try cache.succeed("verify").output.text == "1,000 sound, 0 expired, 0 damaged\n")
        #expect(
            try cache.succeed("remove", "k1", "k2", "--json").output.text
                == #"{"removed":2,"selected":2,"missing":[]}"# + "\n"
        )
        #expect(try cache.succeed("remove", "--match", "k9*").output.text.hasPrefix("111 entries removed"))
        #expect(cache.run("remove", "k1").status == .failure)
        #expect(cache.run("get", "k1").status == .failure)
        #expect(cache.run("clear").status == .usage)
        #expect(try cache.succeed("clear", "--yes", "--json").output.text == #"{"removed":887}"# + "\n")
        #expect(try cache.succeed("list").output.text == "" && cache.entryNames() == [])
    }

    @Test("Clearing asks, and names the server without its password")
    func confirmation() throws {
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(2))
        let run = cache.run("clear", answer: false)
        #expect(run.status == .failure && run.errors.text.contains("of all schemas, on redis://127.0.0.1:"))
        #expect(try cache.entryNames().count == 2)
        #expect(cache.run("clear", answer: true).status == .success)
        #expect(try cache.entryNames() == [])
    }

    @Test(
        "From a disk to a server and back, a cache has every key, byte and attribute that it had",
        arguments: 0..<(isLongRun ? 10 : 2) as Range<UInt64>
    )
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (disk, other) = (DiskCache(workspace), DiskCache(workspace, "other"))
        for key in ArchiveFileNameTests.keys {
            try disk.save(DiskCache.archive("value of \(key)"), key, with: random.attributes())
        }
        let exported = disk.run("export", folder)
        #expect(exported.status == .success, "seed \(seed): \(exported.errors.text)")
        try cache.succeed("import", folder)
        #expect(try cache.entryNames().count == ArchiveFileNameTests.keys.count)
        try cache.succeed("export", folder, "--force", "--all")
        #expect(other.run("import", folder).status == .success)
        #expect(try disk.contents() == other.contents(), "seed \(seed)")
        // The files alone, without their index.
        let bare = workspace.url.appending(path: "bare").path
        try FileManager.default.copyItem(atPath: folder, toPath: bare)
        try FileManager.default.removeItem(atPath: bare + "/index.ndjson")
        try cache.succeed("clear", "--yes")
        let imported = cache.run("import", bare)
        #expect(imported.output.text.contains("imported"), "\(imported.errors.text)")
    }

    @Test("What is there already is left alone with --keep and --resume, also where a key comes again")
    func keeping() throws {
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(100, "old"))
        let twice = ServerCache.records(300, "new") + ServerCache.records(150, "later")
        let resumed = try cache.succeed("warm", "-", "--key", "id", "--resume", input: twice)
        #expect(resumed.errors.text.contains("200 saved, 250 there already"), "\(resumed.errors.text)")
        func text(_ key: String) throws -> String { try cache.succeed("get", key, "--json").output.text }
        #expect(try text("k99").contains("old 99") && text("k100").contains("new 100"))

        try cache.succeed("export", folder)
        try cache.succeed("remove", "k5", "k250")
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(3, "newest"))
        let kept = try cache.succeed("import", folder, "--keep")
        #expect(kept.output.text == "2 entries imported, 0 expired, 298 there already, 0 invalid\n")
        #expect(try text("k2").contains("newest 2") && text("k5").contains("old 5"))
        #expect(try cache.succeed("import", folder).output.text.hasPrefix("300 entries imported"))
        #expect(try text("k2").contains("old 2"))
    }

    @Test("Many records travel by few writes, there and back")
    func pipelining() throws {
        func reads(_ body: () throws -> Void) throws -> Int {
            let before = try cache.figure("total_reads_processed", in: "stats")
            try body()
            return try cache.figure("total_reads_processed", in: "stats") - before
        }
        let records = ServerCache.records(4_000)
        // Other tests may use the server; one by one it would be four thousand.
        #expect(try reads { try cache.succeed("warm", "-", "--key", "id", input: records) } < 1_000)
        #expect(try reads { try cache.succeed("warm", "-", "--key", "id", "--resume", input: records) } < 1_000)
        #expect(try reads { try cache.succeed("export", folder) } < 1_000)
        #expect(try reads { try cache.succeed("verify") } < 1_000)
        #expect(try reads { try cache.succeed("import", folder) } < 1_000)
        #expect(try reads { try cache.succeed("import", folder, "--keep") } < 1_000)
    }

    @Test("A list begins with the first answer of the server, and ends with its reader")
    func streaming() throws {
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(5_000))
        func scans(_ body: () throws -> Void) throws -> Int {
            func count() throws -> Int { try cache.figure("cmdstat_scan:calls", in: "commandstats") }
            _ = try cache.ask(["SCAN", "0"])
            let before = try count()
            try body()
            return try count() - before
        }
        func lines(_ words: String...) throws -> Int {
            let run = ToolRun(["list"] + words + cache.options, on: TypedCacheBackend())
            try #require(run.status == .success)
            return run.output.lines.count
        }
        let all = try scans { () throws in #expect(try lines() == 5_000) }
        let some = try scans { () throws in #expect(try lines("--limit=10") == 10) }
        let output = MemoryOutput(room: 50)
        let cut = try scans { #expect(cache.run("list", output: output).status == .success) }
        #expect(all > 5 && some < all && cut < all, "\(all) \(some) \(cut)")
    }

    @Test("Schemas do not see each other's entries; stats tell of all, and clear removes all")
    func schemas() throws {
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(3, "old"))
        try cache.succeed("warm", "-", "--key", "id", "--schema", "2", input: ServerCache.records(2, "new"))
        #expect(try cache.succeed("get", "k1", "--json").output.text.contains("old 1"))
        #expect(try cache.succeed("get", "k1", "--json", "--schema", "2").output.text.contains("new 1"))
        #expect(try cache.succeed("stats").output.text.hasSuffix("schema   2 has 2 entries\n"))
        #expect(
            try cache.succeed("stats", "--schema", "7", "--json").output.text
                .contains(#""otherSchemas":{"0":3,"2":2}"#)
        )
        try cache.succeed("clear", "--yes", "--schema", "2")
        #expect(try cache.entryNames() == [])
    }

    @Test("A signal in the middle keeps what is whole, and ends the command by it")
    func interruption() throws {
        let source = try workspace.file("records.ndjson", ServerCache.records(20_000))
        let words = ["warm", source, "--key", "id", "--print-keys"] + cache.options
        let (process, output, errors) = try RealTool.start(words)
        var printed = try output.fileHandleForReading.read(upToCount: 4_096) ?? Data()
        kill(process.processIdentifier, SIGINT)
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: printed, errors: errors)
        #expect(outcome.wasSignalled && outcome.status == SIGINT)
        #expect(outcome.errors.contains("interrupted"), "\(outcome.errors)")
        #expect(outcome.lines.count < 20_000)
        let listed = Set(try cache.succeed("list").output.lines)
        #expect(listed.isSuperset(of: outcome.lines) && !outcome.lines.isEmpty)
    }

    @Test("Completions are of the server's keys")
    func completions() throws {
        try cache.succeed("warm", "-", "--key", "id", input: ServerCache.records(20))
        func answer(_ words: [String], variables: [String: String] = [:]) throws -> String {
            try RealTool.run(["complete", "--shell", "fish", "--"] + words, variables: variables).output
        }
        let words = ["get", "--cache", cache.name]
        #expect(try answer(words + ["--shared", cache.url, "k1"]).contains("\0k17\0"))
        #expect(try answer(words + ["k1"], variables: [PlaceOptions.variable: cache.url]).contains("\0k17\0"))
        #expect(try !answer(words + ["--shared", "redis://127.0.0.1:1/", "k1"]).contains("k17"))
        #expect(try answer(["list", "--sh"]).contains("--shared"))
        #expect(try !answer(["list", "--root", "r", "--sh"]).contains("--shared"))
    }
}
