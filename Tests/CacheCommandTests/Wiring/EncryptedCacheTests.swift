import ArchiveStore
import Foundation
import RedisServers
import Sealing
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// The command with the keys of an encrypted cache.
@Suite(.serialized) struct EncryptedCacheTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private static let first = "1:" + String(repeating: "0a", count: 32)
    private static let second = "2:" + String(repeating: "B7", count: 32)

    private func cache(_ words: String...) -> [String] { words + ["--cache", "c", "--root", workspace.root] }

    @Test func keysAreLines() throws {
        func numbers(_ text: String) throws(KeyPlace.Fault) -> [UInt64] {
            try KeyPlace.keys(Array(text.utf8)).map(\.identifier)
        }
        #expect(try numbers("\(Self.first)\n\(Self.second)\r\n\n") == [1, 2])
        #expect(try numbers("") == [])
        for text in [
            "x", "0:" + String(repeating: "0a", count: 32), Self.first + "0", String(Self.first.dropLast()), "1:",
        ] {
            #expect(throws: KeyPlace.Fault.noKey(line: 2), "\(text)") { try numbers("\(Self.second)\n\(text)") }
        }
    }

    @Test(.enabled(if: CipherAlgorithm.isAvailable)) func entriesAreReadWithTheKeyAlone() throws {
        let keys = try workspace.file("keys", Self.first + "\n")
        let source = try workspace.file("records.ndjson", #"{"id":"a","name":"Nkomo"}"# + "\n")
        let saved = try RealTool.run(cache("warm", source, "--key", "id", "--quiet", "--key-file", keys))
        #expect(saved.status == 0, "\(saved)")
        let folder = workspace.root + "/c"
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            guard let bytes = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
            #expect(bytes.range(of: Data("Nkomo".utf8)) == nil)
        }
        #expect(try RealTool.run(cache("list", "--key-file", keys)).lines == ["a"])
        // Another key comes first.
        let both = try workspace.file("both", "\(Self.second)\n\(Self.first)\n")
        let rekeyed = try RealTool.run(cache("rekey", "--key-file", both, "--json"))
        #expect(rekeyed.status == 0 && rekeyed.output.contains(#""rewritten":1,"#), "\(rekeyed)")
        #expect(try RealTool.run(cache("list", "--key-file", keys)).status == 1)
        let options = "--cache c --root '\(workspace.root)'"
        let line = "KEYS=\(Self.second) exec \"$TOOL\" list --key-env KEYS \(options)"
        #expect(try RealTool.runInShell(line).lines == ["a"])
        let descriptor = "exec \"$TOOL\" list --key-file /dev/fd/3 \(options) 3<'\(both)'"
        #expect(try RealTool.runInShell(descriptor).lines == ["a"])
    }

    @Test func aProgramThatCannotDecryptAsksForNoKeys() {
        let reason = "this program was built without the package's trait Encryption"
        for keys in [nil, KeyPlace.variable("KEYS")] {
            let selection = CacheSelection(name: "c", location: .standard, keys: keys)
            let message = CommandFailureMessage(CommandFailure.locked(selection, CacheError(.locked, reason)))
            #expect(message.description == reason)
        }
    }

    @Test func keysThatCannotBeHadAreToldWithoutTheirBytes() throws {
        let wrong = try workspace.file("wrong", "7:0a0b\n")
        let cases = [
            (["--key-file", wrong], "line 1"), (["--key-file", workspace.root + "/none"], "cannot be read"),
            (["--key-env", "NO_SUCH_VARIABLE"], "it is not set"),
        ]
        for (words, part) in cases {
            let outcome = try RealTool.run(cache("list") + words)
            #expect(outcome.status == 1 && outcome.errors.contains(part), "\(outcome)")
            #expect(!outcome.errors.contains("0a0b"))
        }
        #expect(try RealTool.run(cache("list", "--key-file", wrong, "--key-env", "X")).status == 2)
    }
}

/// Subcommands on an encrypted cache: with its key, without it, and with another one.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct LockedCacheTests {
    private let workspace: Workspace
    private let keys: String
    private let wrong: String
    private static let count = 40

    init() throws {
        workspace = try Workspace()
        keys = try workspace.file("keys", Self.line(1) + "\n")
        wrong = try workspace.file("wrong", Self.line(2) + "\n")
        warm()
    }

    private func warm(_ options: [String] = []) {
        let records = (0..<Self.count).map { #"{"id":"k\#($0)","name":"Nkomo \#($0)"}"# + "\n" }.joined()
        let words = ["warm", "-", "--key", "id", "--quiet", "--key-file", keys]
        let run = run(words + options, input: records)
        #expect(run.status == .success, "\(run.errors.text)")
    }

    private static func line(_ number: Int) -> String { "\(number):" + String(repeating: "0\(number)", count: 32) }

    private var cache: [String] { ["--cache", "c", "--root", workspace.root] }

    /// Runs a subcommand, with options at its end.
    private func run(_ words: [String], _ options: [String]? = nil, input: String = "") -> ToolRun {
        ToolRun(words + (options ?? cache), on: DiskCache.backend, input: input)
    }

    private func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: workspace.root + "/c") {
            files[name] = FileManager.default.contents(atPath: workspace.root + "/c/" + name)
        }
        return files
    }

    private func object(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    private func array(_ text: String) throws -> [[String: Any]] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    }

    /// Every subcommand that opens a cache, and whether it works on this one with its key.
    private func invocations() throws -> [(words: [String], options: [String], input: String, works: Bool)] {
        let folder = workspace.root + "-import"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(DiskCache.archive("x")).write(to: URL(filePath: folder + "/x.plist"))
        let subcommands: [(words: [String], input: String, works: Bool)] = [
            (["list"], "", true), (["list", "--long"], "", true), (["list", "--json"], "", true),
            (["list", "--null"], "", true), (["get", "k1"], "", true), (["cat"], "", true), (["stats"], "", true),
            (["verify"], "", true), (["report", "--json"], "", true), (["advise"], "", false),
            (["dump", "k1"], "", true), (["compact"], "", true), (["verify", "--repair"], "", true),
            (["trim", "--max-size", "1G", "--yes"], "", true), (["remove", "k2"], "", true),
            (["remove", "-"], "k3\n", true), (["warm", "-", "--key", "id", "--quiet"], #"{"id":"new"}"#, true),
            (["import", folder], "", true), (["export", workspace.root + "-out", "--decrypt"], "", true),
            (["rekey"], "", true), (["clear", "--yes"], "", true),
        ]
        let directory = workspace.root + "/c"
        return subcommands.map { ($0.words, cache, $0.input, $0.works) }
            + [(["diff", directory, directory], [], "", true)]
    }

    @Test("Without the right key, a subcommand says so, ends with 1 or 2, and touches nothing")
    func withoutKey() throws {
        let before = try files()
        for (words, options, input, _) in try invocations() {
            for keys in [[], ["--key-file", wrong]] {
                if words == ["rekey"], keys.isEmpty { continue }
                let run = run(words + keys, options, input: input)
                let failure: CacheCommand.ExitStatus = words[0] == "diff" ? .trouble : .failure
                #expect(run.status == failure, "\(words + keys): \(run.errors.text)")
                let message =
                    keys.isEmpty
                    ? "encrypted, and no key was given for it; give its key with --key-file PATH or --key-env NAME"
                    : "encrypted with key 1, which is not among those that were given; the keys in \(wrong) do not fit"
                #expect(run.errors.text.hasSuffix(message + "\n"), "\(words + keys): \(run.errors.text)")
                #expect(words.contains("--json") && words[0] == "list" || run.output.text == "", "\(words)")
                #expect(try files() == before, "\(words + keys)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: workspace.root + "-out"))
        let rekey = run(["rekey"])
        #expect(rekey.status == .usage && rekey.errors.text.contains("--key-file or --key-env is missing"))
        let top = run(["top", "--once"], ["--root", workspace.root])
        #expect(top.status == .success)
        #expect(try files() == before)
    }

    @Test("With its key, every subcommand works")
    func withKey() throws {
        for (words, options, input, works) in try invocations() {
            let run = run(words + ["--key-file", keys], options, input: input)
            #expect((run.status == .success) == works, "\(words): \(run.errors.text)")
        }
    }

    @Test("A key for a cache that is not encrypted is refused")
    func plainCache() throws {
        let options = ["--cache", "plain", "--root", workspace.root]
        _ = run(["warm", "-", "--key", "id", "--quiet"], options, input: #"{"id":"a"}"#)
        let run = run(["list", "--key-file", keys], options)
        #expect(
            run.status == .failure && run.errors.text.contains("the cache is not encrypted, and a key was given")
        )
    }

    // MARK: list

    @Test("Without the key, list shows what anyone can see")
    func outline() throws {
        try FileManager.default.removeItem(atPath: workspace.root + "/c")
        warm(["--layout", "packed"])
        let run = run(["list"])
        let lines = run.errors.text.split(separator: "\n")
        #expect(
            lines.count == 4 && lines[0].split(separator: " ").prefix(3) == ["FILE", "SIZE", "KEY"],
            "\(lines)"
        )
        let cells = lines[1].split(separator: " ").map(String.init)
        #expect(cells[0] == "00000001.segment" && cells[3] == "1", "\(cells)")
        let count = try #require(Int(cells[4]))
        #expect((Self.count...Self.count + 4).contains(count))
        #expect(lines[2].hasSuffix("in all"))
        #expect(!run.errors.text.contains("Nkomo"))

        let json = self.run(["list", "--json"])
        #expect(json.status == .failure && json.errors.text.split(separator: "\n").count == 1)
        let object = try object(json.output.text)
        #expect(object["encrypted"] as? Bool == true)
        let segments = try #require(object["segments"] as? [[String: Any]])
        #expect(segments.count == 1 && segments[0]["key"] as? String == "1")
        #expect(segments[0]["records"] as? Int == count)
        #expect(try object["size"] as? Int == files().values.reduce(0) { $0 + $1.count })
    }

    @Test("Without the key, list shows how many files a cache has that keeps one for each entry")
    func outlineOfFiles() throws {
        try FileManager.default.removeItem(atPath: workspace.root + "/c")
        warm(["--layout", "files"])
        let run = run(["list"])
        let count = try files().count
        #expect(count > Self.count)
        #expect(run.status == .failure && run.errors.text.hasPrefix("\(count) files of "), "\(run.errors.text)")
        let json = self.run(["list", "--json"])
        #expect(try object(json.output.text)["size"] as? Int == files().values.reduce(0) { $0 + $1.count })
    }

    // MARK: export

    @Test("An export of an encrypted cache has to be asked for")
    func export() throws {
        let out = workspace.root + "-out"
        let refused = run(["export", out, "--key-file", keys])
        #expect(refused.status == .usage && refused.errors.text.contains("use --decrypt"), "\(refused.errors.text)")
        #expect(!FileManager.default.fileExists(atPath: out))
        let run = run(["export", out, "--key-file", keys, "--decrypt", "--json"])
        #expect(run.status == .success && run.output.text.contains(#""exported":\#(Self.count),"#))
        // A cache that is not encrypted needs no such word.
        let plain = ["--cache", "plain", "--root", workspace.root]
        #expect(self.run(["import", out], plain).status == .success)
        #expect(self.run(["export", out + "2"], plain).status == .success)
        #expect(self.run(["list"], plain).output.text.split(separator: "\n").count == Self.count)
    }

    // MARK: caches

    @Test("Encrypted caches are listed, and read where there is a key")
    func caches() throws {
        _ = run(
            ["warm", "-", "--key", "id", "--quiet"],
            ["--cache", "plain", "--root", workspace.root],
            input: #"{"id":"a"}"#
        )
        func list(_ words: String...) throws -> (run: ToolRun, rows: [[String: Any]]) {
            let run = run(["caches", "--json"] + words, ["--root", workspace.root])
            return (run, try array(run.output.text))
        }
        let locked = try list()
        #expect(locked.run.status == .success && locked.run.errors.text == "")
        #expect(locked.rows.map { $0["encrypted"] as? Bool } == [true, false])
        #expect(locked.rows.map { $0["entries"] as? Int } == [nil, 1])
        #expect(locked.rows[0]["changedAt"] is String && (locked.rows[0]["size"] as? Int ?? 0) > 4_000)
        let open = try list("--key-file", keys, "--check")
        #expect(open.run.status == .success && open.rows.map { $0["entries"] as? Int } == [Self.count, 1])
        let other = try list("--key-file", wrong)
        #expect(
            other.run.status == .failure && other.run.errors.text.contains("c: the cache is encrypted with key 1")
        )
        #expect(other.rows.map { $0["entries"] as? Int } == [nil, 1])
        let table = run(["caches"], ["--root", workspace.root]).output.text
        #expect(table.contains("ENCRYPTED") && table.contains("unknown"))
    }

    // MARK: rekey

    @Test("All entries get the first key, and the former one can be forgotten")
    func rekey() throws {
        let both = try workspace.file("both", Self.line(2) + "\n" + Self.line(1) + "\n")
        // A segment with each key.
        _ = run(["warm", "-", "--key", "id", "--quiet", "--key-file", both], input: #"{"id":"new"}"#)
        #expect(run(["list", "--key-file", wrong]).status == .failure)
        let run = run(["rekey", "--key-file", both])
        let word = "\(Self.count) entries written again"
        #expect(run.status == .success && run.output.text.hasPrefix(word), "\(run.output.text)")
        #expect(run.output.text.hasSuffix("; former keys can be forgotten\n"))
        #expect(self.run(["list", "--key-file", wrong]).output.text.split(separator: "\n").count == Self.count + 1)
        #expect(self.run(["verify", "--key-file", wrong]).status == .success)
        let again = self.run(["rekey", "--key-file", wrong, "--json"])
        #expect(again.output.text == #"{"rewritten":0,"size":0,"formerKeys":[],"interrupted":false}"# + "\n")
    }

    @Test("Stopped, it says which keys are still needed")
    func stopped() throws {
        let both = try workspace.file("both", Self.line(2) + "\n" + Self.line(1) + "\n")
        // Two segments with the former key.
        _ = run(["warm", "-", "--key", "id", "--quiet", "--key-file", both], input: #"{"id":"new"}"#)
        let back = try workspace.file("back", Self.line(1) + "\n" + Self.line(2) + "\n")
        _ = run(["warm", "-", "--key", "id", "--quiet", "--key-file", back], input: #"{"id":"newer"}"#)
        let interruption = TestInterruption()
        interruption.arrive(15)
        let stopped = ToolRun(
            ["rekey", "--key-file", both] + cache,
            on: DiskCache.backend,
            interruption: interruption
        )
        #expect(stopped.status == .signal(15))
        #expect(stopped.output.text.hasSuffix("; key 1 is still needed, interrupted\n"), "\(stopped.output.text)")
        #expect(run(["rekey", "--key-file", both]).status == .success)
        #expect(run(["list", "--key-file", wrong]).output.text.split(separator: "\n").count == Self.count + 2)
    }
}

/// Subcommands on a server's cache whose values are encrypted.
@Suite(
    .enabled(if: CipherAlgorithm.isAvailable),
    .enabled(if: RedisServer.isInstalled, "\(ServerCache.isMissing)")
)
struct SealedServerTests {
    @Test("With the key, values are saved encrypted and read; without it, they are told to be locked")
    func sealedValues() throws {
        let cache = try ServerCache()
        let workspace = try Workspace()
        let keys = try workspace.file("keys", "1:" + String(repeating: "0a", count: 32))
        let other = try workspace.file("other", "2:" + String(repeating: "0b", count: 32))
        let records = ServerCache.records(5)
        try cache.succeed("warm", "-", "--key", "id", "--quiet", "--key-file", keys, input: records)
        #expect(try cache.succeed("get", "k1", "--key-file", keys).output.text.contains("record 1"))
        #expect(try cache.succeed("verify", "--key-file", keys).output.text.hasPrefix("5 sound"))
        #expect(try cache.succeed("list").output.text.split(separator: "\n").count == 5)
        let names = try cache.entryNames()
        for words in [[], ["--key-file", other]] {
            let run = ToolRun(["get", "k1"] + words + cache.options, on: TypedCacheBackend())
            #expect(run.status == .failure && run.output.text == "")
            #expect(run.errors.text.hasSuffix("; \(KeyOptions.advice)\n"), "\(run.errors.text)")
        }
        let out = workspace.root + "-out"
        let refused = ToolRun(["export", out, "--key-file", keys] + cache.options, on: TypedCacheBackend())
        #expect(refused.status == .usage)
        try cache.succeed("export", out, "--key-file", keys, "--decrypt")
        #expect(try cache.entryNames() == names)
    }
}
