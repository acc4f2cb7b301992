import ArchiveStore
import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand

/// The commands that are about single entries, on a cache on disk.
struct EntryCommandTests {
    private let cache: DiskCache
    private static let oddKeys = [
        "a\nb", "a\\nb", "back\\slash", "-", "é", "e\u{301}", "\u{202E}x", "  ", "\r", "'", "\\u{41}",
    ]

    init() throws { cache = DiskCache(try Workspace()) }

    private func run(_ words: String..., input: String = "") -> ToolRun {
        ToolRun(words + cache.options, on: DiskCache.backend, input: input)
    }

    private func save(_ keys: [String]) throws {
        for key in keys { try cache.save(DiskCache.archive("value of \(key)"), key) }
    }

    private func keys() throws -> Set<[UInt8]> { try Set(cache.contents().keys) }

    @Test(
        "What list prints goes into get and remove by a pipe, escaped or with NULs",
        arguments: [[], ["--null"], ["-0"]]
    )
    func pipes(options: [String]) throws {
        try save(Self.oddKeys)
        let listed = ToolRun(["list"] + options + cache.options, on: DiskCache.backend).output.text
        #expect(listed.contains("\0") == !options.isEmpty)
        let got = ToolRun(
            ["get", "-", "--json"] + options + cache.options,
            on: DiskCache.backend,
            input: listed
        )
        #expect(got.status == .success && got.output.lines.count == Self.oddKeys.count, "\(got.errors.text)")
        let removed = ToolRun(
            ["remove", "-", "--json"] + options + cache.options,
            on: DiskCache.backend,
            input: listed
        )
        #expect(
            removed.output.text
                == #"{"removed":\#(Self.oddKeys.count),"selected":\#(Self.oddKeys.count),"missing":[]}"# + "\n"
        )
        #expect(removed.status == .success && removed.errors.text.isEmpty)
        #expect(try keys().isEmpty)
    }

    @Test("A key with a NUL is not printed raw, for a NUL ends a key there", arguments: [[], ["--sort", "key"]])
    func keysWithNULs(options: [String]) throws {
        try save(["a", "b", "a\0b"])
        let listed = ToolRun(["list", "--match", "a?b", "--null"] + options + cache.options, on: DiskCache.backend)
        #expect(listed.status == .failure && listed.output.text.isEmpty)
        #expect(listed.errors.text == "typed-cache: the key 'a\\u{0}b' has a NUL in it; list it without --null\n")
        let all = ToolRun(["list", "--null"] + options + cache.options, on: DiskCache.backend)
        #expect(all.status == .failure && Set(all.output.text.split(separator: "\0")) == ["a", "b"])
        #expect(run("remove", "-", input: run("list", "--match", "a?b").output.text).status == .success)
        #expect(try keys() == [Array("a".utf8), Array("b".utf8)])
    }

    @Test("A key that cannot be one is told, and the rest goes on", arguments: [false, true])
    func keysThatAreNone(isByGet: Bool) throws {
        try save(["a", "b"])
        let long = String(repeating: "k", count: 1_025)
        let ran = run(isByGet ? "get" : "remove", "-", "--json", input: "a\n\n\(long)\nb\n")
        #expect(ran.status == .failure)
        #expect(ran.errors.lines.count == 2, "\(ran.errors.text)")
        #expect(ran.errors.lines.allSatisfy { $0.hasPrefix("typed-cache: ") })
        if isByGet {
            #expect(ran.output.lines.count == 2)
        } else {
            #expect(ran.output.text == #"{"removed":2,"selected":2,"missing":[]}"# + "\n")
            #expect(try keys().isEmpty)
        }
    }

    @Test("Lines that are no keys are told by number, and the rest goes on")
    func badLines() throws {
        try save(["a", "b"])
        let removed = run("remove", "-", input: "a\n\\x\n\(String(repeating: "k", count: 20_000))\nmissing\nb")
        #expect(removed.status == .failure)
        #expect(
            removed.errors.lines == [
                "typed-cache: line 2: a backslash must be escaped, as list does; raw keys are read with --null",
                "typed-cache: line 3: the key is longer than 16.0 KiB",
                "typed-cache: no entry for 'missing'; see typed-cache list",
            ]
        )
        #expect(try keys().isEmpty)
    }

    @Test("Bytes that are not text are not a key", arguments: ["get", "remove"])
    func noText(name: String) throws {
        try save(["a"])
        let ran = ToolRun([name, "-"] + cache.options, on: DiskCache.backend, bytes: [0xFF, 0x0A])
        #expect(ran.status == .failure)
        #expect(ran.errors.lines == ["typed-cache: line 1: the key is not UTF-8 text"])
    }

    @Test("A key that was copied from list is told from one that is missing")
    func escapedKey() throws {
        try save(["a\nb"])
        let escaped = run("get", "a\\nb")
        #expect(escaped.status == .failure)
        #expect(
            escaped.errors.text
                == "typed-cache: no entry for 'a\\\\nb'; keys that list prints are escaped: pass them on standard "
                + "input, with - for KEY\n"
        )
        #expect(run("get", "-", input: "a\\nb\n").status == .success)
    }

    @Test("Escaped text comes back, whatever it holds", arguments: 0..<20 as Range<UInt64>)
    func escaping(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var text = ""
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let scalars: [Unicode.Scalar] = [
                    "\\", "n", "u", "{", "}", "\n", "\u{0}", "\u{7F}", "\u{2028}", "\u{1F981}",
                ]
                text.unicodeScalars.append(scalars[Int.random(in: 0..<scalars.count, using: &random)])
            }
            let back = EscapedText.unescaped(EscapedText(text).description)
            #expect(back.map { Array($0.utf8) } == Array(text.utf8), "\(text.debugDescription)")
        }
        for text in ["\\", "\\x", "\\u", "\\u{", "\\u{}", "\\u{d800}", "\\u{110000}", "\\u{+1}"] {
            #expect(EscapedText.unescaped(text) == nil, "\(text)")
        }
    }

    @Test("Keys from standard input stand alone, and NULs need it")
    func usage() {
        for words in [
            ["remove", "-", "a"], ["remove", "a", "--null"], ["get", "a", "-0"], ["list", "-0", "--json"],
        ] {
            #expect(ToolRun(words + cache.options, on: DiskCache.backend).status == .usage, "\(words)")
        }
    }

    @Test("get names the key of a damaged entry, and leaves it for verify to find")
    func damaged() throws {
        try save(["first"])
        try cache.damageFirst()
        let run = run("get", "first")
        #expect(run.status == .failure && run.output.text.isEmpty)
        #expect(run.errors.text.hasPrefix("typed-cache: the entry for 'first' is damaged: "))
        #expect(run.errors.text.hasSuffix("; typed-cache verify --repair removes damaged entries\n"))
        #expect(self.run("verify", "--repair").output.text.hasSuffix("1 damaged, 1 removed\n"))
    }

    @Test("A damaged entry is removed by its key, and a dry run says so", arguments: ["packed", "files"])
    func damagedRemoval(layout: String) throws {
        let warmed = run("warm", "-", "--key", "id", "--layout", layout, input: #"{"id":"first"}"#)
        #expect(warmed.status == .success)
        try cache.damageFirst()
        let trial = run("remove", "first", "--dry-run")
        #expect(trial.status == .success && trial.output.text == "first\n", "\(trial.errors.text)")
        #expect(run("remove", "first", "--json").output.text == #"{"removed":1,"selected":1,"missing":[]}"# + "\n")
        #expect(run("remove", "first", "--dry-run").status == .failure)
    }

    @Test("get says what to do about an entry that JSON cannot show, and dump shows it")
    func circle() throws {
        let tree = ArchiveTree(
            roots: [.init(key: "root", value: .reference(1))],
            objects: [
                .empty,
                .instance(.init(classPlace: 2, fields: [.init(key: "me", value: .reference(1))])),
                .classDescription(.init(name: "zoo.Snake", chain: ["zoo.Snake", "NSObject"])),
            ]
        )
        try cache.save([UInt8](tree.archivedData()), "it's")
        let failure = run("get", "it's")
        let command = "typed-cache dump \(cache.selection.commandText) -- 'it'\\''s'"
        #expect(failure.status == .failure)
        #expect(failure.errors.text.hasSuffix("; see its objects with: \(command)\n"), "\(failure.errors.text)")
        #expect(run("dump", "it's").output.text == "root: zoo.Snake #1\n  me: see #1\n")
        try cache.save(Array("junk".utf8), "junk")
        let refusal = "typed-cache: the entry for 'junk' is not a sound archive: "
        #expect(run("get", "junk").errors.text.hasPrefix(refusal))
        #expect(run("dump", "missing").errors.text == "typed-cache: no entry for 'missing'; see typed-cache list\n")
    }

    @Test("An entry that has expired is none")
    func expired() throws {
        try cache.save(
            DiskCache.archive("x"),
            "x",
            with: DiskCache.attributes(expiresAt: .now.addingTimeInterval(-1))
        )
        for word in ["get", "dump"] { #expect(run(word, "x").errors.text.contains("no entry for 'x'"), "\(word)") }
        #expect(try keys() == [Array("x".utf8)])
    }

    @Test("Long values are written in pieces, which together are the whole")
    func longValues() throws {
        var random = SeededGenerator(seed: 1)
        let bytes = Data(random.bytes(500_000))
        let text = String(repeating: "Lavāsān \u{1F981}\n", count: 20_000)
        let value = RecordValue.object(
            Record(fields: [
                RecordField(name: "data", value: .data(bytes[1_000...])),
                RecordField(
                    name: "texts",
                    value: .array([.string(text), .string("x"), .data(Data()), .string(text)])
                ),
            ])
        )
        for isIndented in [true, false] {
            let output = MemoryOutput()
            try JSONWriter.write(value, isIndented: isIndented, to: output)
            #expect(output.text == JSONWriter.text(value, isIndented: isIndented) + "\n")
        }
        #expect(JSONWriter.text(value, isIndented: false).contains(bytes[1_000...].base64EncodedString()))
    }

    // MARK: Limits

    @Test("A limit with room for no entry gives none up; the least one has room", arguments: ["packed", "files"])
    func leastLimit(layout: String) throws {
        let place = cache.options
        func warm(_ key: String, _ words: [String]) -> ToolRun {
            let words = ["warm", "-", "--key", "id", "--layout", layout] + place + words
            return ToolRun(words, on: DiskCache.backend, input: #"{"id":"\#(key)"}"# + "\n")
        }
        #expect(warm("a", []).status == .success)
        let refused = warm("b", ["--max-size", "10"])
        #expect(refused.status == .usage && refused.errors.text.contains("at least 1K, not '10'"))
        #expect(try cache.contents().keys.map { String(decoding: $0, as: UTF8.self) } == ["a"])
        #expect(warm("b", ["--max-size", "1K"]).status == .success)
        #expect(try cache.contents()[Array("b".utf8)] != nil)
    }

    // MARK: Caches that are not there

    @Test("A name that no cache can have is refused with the rule")
    func unusableNames() {
        let root = cache.workspace.root
        let rule = "a cache's name contains no / \\ or :"
        for (words, name) in [
            (["list", "--cache", "a/b", "--root", root], "'a/b'"),
            (["warm", "-", "--key", "k", "--cache", "a\\b", "--root", root], "'a\\\\b'"),
            (["diff", "a:b", "c", "--root", root], "'a:b'"),
        ] {
            let ran = ToolRun(words, on: DiskCache.backend)
            #expect(ran.status == .usage, "\(words)")
            #expect(ran.errors.text == "typed-cache: there can be no cache \(name); \(rule)\n")
        }
        let app = ToolRun(["list", "--cache", "c", "--app", "a/b"], on: DiskCache.backend)
        #expect(app.status == .usage)
        #expect(
            app.errors.text == "typed-cache: there can be no app 'a/b'; an app's name contains no / \\ or :\n"
        )
    }

    @Test("No app is outside of the directory of all apps", arguments: ["caches", "top --once"])
    func unusableApps(words: String) {
        let words = words.split(separator: " ").map(String.init)
        for (app, rule) in [("..", "does not begin with a dot"), ("a/b", "contains no / \\ or :")] {
            let ran = ToolRun(words + ["--app", app], on: DiskCache.backend)
            #expect(ran.status == .usage)
            #expect(ran.errors.text == "typed-cache: there can be no app '\(app)'; an app's name \(rule)\n")
        }
    }

    private func message(_ location: [String]) -> String {
        ToolRun(["list"] + location, on: DiskCache.backend).errors.text
    }

    @Test("An app without caches is told with the apps that have some")
    func otherApps() throws {
        let missing = "no-such-app-\(UInt64.random(in: 0 ... .max))"
        let apps = DiskCache.backend.apps()
        let listed = message(["--cache", "c", "--app", missing])
        let caches = ToolRun(["caches", "--app", missing], on: DiskCache.backend)
        #expect(caches.status == .failure)
        guard let first = apps.first else {
            #expect(listed.hasSuffix("; there is no such directory\n"))
            return
        }
        #expect(listed.contains("; there are the apps '\(first)'"))
        #expect(
            caches.errors.text.hasPrefix(
                "typed-cache: there is no app '\(missing)' with caches; there are '\(first)'"
            )
        )
    }

    @Test("Who looks for a cache that is not there is told which are")
    func otherCaches() throws {
        let root = cache.workspace.root
        #expect(message(["--cache", "c", "--root", root]).hasSuffix("; there is no such directory\n"))
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        #expect(message(["--cache", "c", "--root", root]).hasSuffix("; there are no caches\n"))
        for name in ["Prices", "two words"] {
            try DiskCache(cache.workspace, name).save(DiskCache.archive("x"), "x")
        }
        try FileManager.default.createDirectory(atPath: root + "/no cache", withIntermediateDirectories: true)
        #expect(
            message(["--cache", "c", "--root", root])
                == "typed-cache: no cache 'c' in \(root); there are 'Prices', 'two words'\n"
        )
        #expect(message(["--cache", "prices", "--root", root]).hasSuffix("; did you mean --cache Prices?\n"))
        #expect(
            message(["--cache", "TWO WORDS", "--root", root]).hasSuffix("; did you mean --cache 'two words'?\n")
        )
        for index in 10..<40 {
            try DiskCache(cache.workspace, "n\(index)").save(DiskCache.archive("x"), "x")
        }
        #expect(message(["--cache", "c", "--root", root]).hasSuffix("'n17', 'n18', …\n"))
    }
}
