import ArchiveStore
import Foundation
import KeyedArchive
import TestSupport
import Testing
import TypedCache

@testable import CacheCommand

/// The commands that are about entries which options select, on a cache on disk.
struct SelectionCommandTests {
    private let workspace: Workspace
    private let cache: DiskCache

    init() throws {
        workspace = try Workspace()
        cache = DiskCache(workspace)
    }

    private func save(
        _ key: String,
        _ text: String = "v",
        age: TimeInterval = 0,
        expired: Bool = false,
        tags: [String] = []
    ) throws {
        var attributes = EntryAttributes(
            storedAt: .now - age,
            expiresAt: expired ? .now - 1 : nil
        )
        attributes.tags = tags
        try cache.save(DiskCache.archive(text), key, with: attributes)
    }

    private func keys(_ words: String...) -> Set<String> {
        let run = ToolRun(["list"] + words + cache.options, on: DiskCache.backend)
        #expect(run.status == .success, "\(run.errors.text)")
        return Set(run.output.lines)
    }

    private func saveSamples() throws {
        try save("user/7/a", age: 100_000, tags: ["x", "y"])
        try save("user/7/b", tags: ["x"])
        try save("user/70/c", (0..<4_000).map(String.init).joined(separator: " "), age: 10)
        try save("other")
        try save("gone", expired: true, tags: ["x"])
    }

    @Test("Each option takes its entries, and several together take those that agree with all")
    func options() throws {
        try saveSamples()
        #expect(keys() == ["user/7/a", "user/7/b", "user/70/c", "other"])
        #expect(keys("--prefix", "user/7") == ["user/7/a", "user/7/b", "user/70/c"])
        #expect(keys("--match", "user/?/*") == ["user/7/a", "user/7/b"])
        #expect(keys("--tag", "x") == ["user/7/a", "user/7/b"])
        #expect(keys("--older-than", "1d") == ["user/7/a"])
        #expect(keys("--older-than", "5s") == ["user/7/a", "user/70/c"])
        #expect(keys("--expired") == ["gone"])
        #expect(keys("--expired", "--tag", "y") == [])
        #expect(keys("--tag", "x", "--prefix", "user/7/b") == ["user/7/b"])
        let large = keys("--larger-than", "350")
        #expect(large == ["user/70/c"], "\(large)")
    }

    @Test("A list has the order that is asked for, and no more entries than the limit")
    func orders() throws {
        try saveSamples()
        func lines(_ words: String...) -> [String] {
            ToolRun(["list"] + words + cache.options, on: DiskCache.backend).output.lines
        }
        #expect(lines("--sort", "key") == ["other", "user/7/a", "user/7/b", "user/70/c"])
        #expect(lines("--sort", "size", "--limit", "1") == ["user/70/c"])
        #expect(lines("--sort", "stored").suffix(2) == ["user/70/c", "user/7/a"])
        #expect(lines("--limit", "2").count == 2 && lines("--limit", "0").isEmpty)
        let tagged = lines("--tags", "--prefix", "user/7/a")
        #expect(tagged.first?.contains("TAGS") ?? false && tagged.last?.contains("x, y") ?? false)
    }

    @Test("What a dry run shows is removed without it, and nothing else")
    func removal() throws {
        try saveSamples()
        let trial = cache.run("remove", "--tag", "x", "--dry-run")
        #expect(trial.status == .success && Set(trial.output.lines) == ["user/7/a", "user/7/b"])
        #expect(try cache.contents().count == 5)
        #expect(cache.run("remove", "other", "none", "--dry-run").output.lines == ["other"])
        let removed = cache.run("remove", "--tag", "x")
        #expect(removed.status == .success && removed.output.text.hasPrefix("2 entries removed, "))
        #expect(keys() == ["user/70/c", "other"])
        #expect(cache.run("remove", "--expired", "--json").output.text.hasPrefix(#"{"removed":1,"selected":1,"#))
        #expect(try cache.contents().count == 2)
    }

    @Test("Programs get the counts of a removal in one shape, by keys and by selection, of a trial, too")
    func countsOfRemoval() throws {
        try saveSamples()
        func json(_ words: String...) -> String {
            ToolRun(["remove", "--json"] + words + cache.options, on: DiskCache.backend).output.text
        }
        #expect(json("other", "none", "--dry-run") == #"{"removed":0,"selected":1,"missing":["none"]}"# + "\n")
        #expect(json("--tag", "x", "--dry-run").hasPrefix(#"{"removed":0,"selected":2,"size":"#))
        #expect(json("other", "none") == #"{"removed":1,"selected":1,"missing":["none"]}"# + "\n")
        #expect(json("--tag", "x").hasPrefix(#"{"removed":2,"selected":2,"size":"#))
    }

    @Test("A failure ends a removal by selection with its reason, and the removals before it are counted")
    func failingRemoval() throws {
        for index in 0..<5 { try save("a\(index)") }
        for (words, told) in [([], "2 entries removed, "), (["--json"], #"{"removed":1,"selected":1,"size":"#)] {
            let count = words.isEmpty ? 2 : 1
            let failing = StoppingAccess(
                try DiskCache.backend.open(cache.selection),
                willRemove: { index throws(CacheError) in
                    if index == count { throw CacheError(.io, "the disk is gone") }
                }
            )
            let run = ToolRun(
                ["remove", "--prefix", "a"] + words + cache.options,
                on: StoppingBackend(access: failing)
            )
            #expect(run.status == .failure && run.errors.text == "typed-cache: the disk is gone\n")
            #expect(run.output.text.hasPrefix(told), "\(run.output.text)")
        }
        #expect(try cache.contents().count == 2)
    }

    @Test("Keys and options that select exclude each other, and one of them is needed")
    func usage() throws {
        try save("a")
        for words in [
            ["remove"], ["remove", "a", "--prefix", "a"], ["remove", "-", "--expired"], ["list", "--match", "[a"],
            ["list", "--sort", "age"], ["list", "--tags", "--null"], ["get", "a", "b", "--raw"],
            ["get", "-", "--as", "xml"],
            ["get", "a", "--raw", "--json"], ["remove", "--larger-than", "0"], ["remove", "--prefix", ""],
        ] {
            #expect(ToolRun(words + cache.options, on: DiskCache.backend).status == .usage, "\(words)")
        }
        #expect(try cache.contents().count == 1)
    }

    @Test("A pattern takes what shells' patterns take")
    func patterns() throws {
        let cases: [(String, String, Bool)] = [
            ("*", "", true), ("?", "", false), ("a*c", "abcbc", true), ("a*c", "abcb", false), ("**", "x", true),
            ("[a-c]x", "bx", true), ("[!a-c]x", "bx", false), ("[!a-c]x", "dx", true), ("[]a]", "]", true),
            ("\\*", "*", true), ("\\*", "a", false), ("é?", "éü", true), ("[a-]", "-", true), ("", "", true),
            ("a", "ab", false), ("*a*b*c*", "xxaxxbxxc", true),
        ]
        for (pattern, text, isMatch) in cases {
            #expect(try GlobPattern(parsing: pattern).matches(text) == isMatch, "\(pattern) \(text)")
        }
        for pattern in ["[", "[a", "[!", "[z-a]", "\\"] {
            #expect(throws: InvalidValue.self, "\(pattern)") { try GlobPattern(parsing: pattern) }
        }
        // Without going back more than once for each star, this would take years.
        let hard = try GlobPattern(parsing: String(repeating: "a*", count: 60) + "b")
        #expect(!hard.matches(String(repeating: "a", count: 1_000)))
    }

    @Test("What cat prints is what warm has read", arguments: ["packed", "files"])
    func roundTrip(layout: String) throws {
        let records = (0..<300).map {
            #"{"id":"\#($0)","n":\#($0),"r":\#(Double($0) / 4),"s":"ü\n\#($0)","l":[true,null,{"x":1}]}"#
        }
        let from = ToolRun(
            ["warm", "-", "--key", "id", "--layout", layout] + cache.options,
            on: DiskCache.backend,
            input: records.joined(separator: "\n")
        )
        #expect(from.status == .success, "\(from.errors.text)")
        let printed = cache.run("cat")
        #expect(printed.status == .success)
        let other = DiskCache(workspace, "other")
        #expect(
            ToolRun(
                ["warm", "-", "--key", "id"] + other.options,
                on: DiskCache.backend,
                input: printed.output.text
            ).status
                == .success
        )
        let compared = ToolRun(["diff", "c", "other", "--root", workspace.root], on: DiskCache.backend)
        #expect(compared.status == .success && compared.output.text.isEmpty)
        #expect(Set(printed.output.lines.map { $0.count }) == Set(other.run("cat").output.lines.map { $0.count }))
        let keyed = cache.run("cat", "--key", "k", "--prefix", "29")
        #expect(keyed.output.lines.count == 11 && keyed.output.lines.allSatisfy { $0.hasPrefix(#"{"k":"29"#) })
    }

    @Test("A difference is told by key, and field by field")
    func differences() throws {
        let other = DiskCache(workspace, "d")
        func warm(_ cache: DiskCache, _ lines: String) {
            let run = ToolRun(["warm", "-", "--key", "id"] + cache.options, on: DiskCache.backend, input: lines)
            #expect(run.status == .success, "\(run.errors.text)")
        }
        warm(
            cache,
            #"{"id":"a","n":1}"# + "\n" + #"{"id":"b","n":1,"o":{"p":2,"q":"x"},"gone":true}"# + "\n"
                + #"{"id":"same","n":1}"#
        )
        warm(
            other,
            #"{"id":"c","n":1}"# + "\n" + #"{"id":"b","n":2,"o":{"p":3,"q":"x"},"new":3}"# + "\n"
                + #"{"id":"same","n":1}"#
        )
        func diff(_ words: String...) -> ToolRun {
            ToolRun(["diff", "c", "d", "--root", workspace.root] + words, on: DiskCache.backend)
        }
        let short = diff()
        #expect(short.status == .failure && Set(short.output.lines) == ["- a", "~ b", "+ c"])
        let long = diff("--long").output.text
        #expect(
            long.contains("~ b\n    gone: true -> none\n    n: 1 -> 2\n    o.p: 2 -> 3\n    new: none -> 3\n"),
            "\(long)"
        )
        let json = diff("--json").output.lines
        #expect(json.contains(#"{"key":"a","change":"removed"}"#) && json.count == 3)
        let byPath = ToolRun(["diff", workspace.root + "/c", workspace.root + "/c"], on: DiskCache.backend)
        #expect(byPath.status == .success && byPath.output.text.isEmpty)
        #expect(ToolRun(["diff", "c"], on: DiskCache.backend).status == .usage)
    }

    @Test("A URL keeps its base in get, cat and diff")
    func basedURLs() throws {
        func save(_ base: String, in name: String) throws {
            let url = try #require(URL(string: "c?q=1", relativeTo: URL(string: base)))
            let archive = try KeyedArchiver.archivedData(withRootObject: ["url": url])
            try DiskCache(workspace, name).save([UInt8](archive), "p")
        }
        try save("https://h/a/b", in: "c")
        try save("https://other/z/b", in: "d")
        #expect(cache.run("get", "p").output.text.contains("https://h/a/c?q=1"))
        #expect(cache.run("cat").output.text.contains("https://h/a/c?q=1"))
        let compared = ToolRun(["diff", "c", "d", "--root", workspace.root], on: DiskCache.backend)
        #expect(compared.status == .failure && compared.output.text == "~ p\n")
    }

    @Test("A comparison that cannot be made is told from a difference")
    func noComparison() throws {
        try save("a")
        func diff(_ name: String) -> ToolRun {
            ToolRun(["diff", "c", name, "--root", workspace.root], on: DiskCache.backend)
        }
        let missing = diff("nope")
        #expect(missing.status == .trouble && missing.errors.text.contains("no cache 'nope'"))
        try DiskCache(workspace, "empty").save(DiskCache.archive("x"), "b")
        #expect(diff("empty").status == .failure)
        let full = ToolRun(
            ["diff", "c", "empty", "--root", workspace.root],
            on: DiskCache.backend,
            output: MemoryOutput(room: 1, error: .failed(errno: 28))
        )
        #expect(full.status == .trouble)
        // An entry that is not an archive.
        try DiskCache(workspace, "empty").save([1, 2, 3], "a")
        let unsound = diff("empty")
        #expect(unsound.status == .trouble && unsound.output.lines == ["+ b"], "\(unsound.output.text)")
    }

    /// Three entries in a cache and in its copy, the first of which is damaged in the copy.
    private func makeDamagedCopy(_ layout: String) throws -> DiskCache {
        for name in ["c", "d"] {
            let warmed = ToolRun(
                ["warm", "-", "--key", "id", "--layout", layout] + DiskCache(workspace, name).options,
                on: DiskCache.backend,
                input: (0..<3).map { #"{"id":"\#($0)"}"# }.joined(separator: "\n")
            )
            #expect(warmed.status == .success, "\(warmed.errors.text)")
        }
        let copy = DiskCache(workspace, "d")
        try copy.damageFirst()
        return copy
    }

    @Test("cat leaves damaged entries out, and says so", arguments: ["packed", "files"])
    func damagedRecords(layout: String) throws {
        let copy = try makeDamagedCopy(layout)
        for words in [[], ["--match", "?"]] {
            let printed = ToolRun(["cat"] + words + copy.options, on: DiskCache.backend)
            #expect(printed.status == .failure && printed.output.lines.count == 2)
            #expect(printed.errors.lines.count == 1 && printed.errors.text.contains(workspace.root))
            #expect(printed.errors.text.hasSuffix("; typed-cache verify --repair removes damaged entries\n"))
        }
    }

    @Test(
        "Caches with damaged entries are never the same, and each of these is told once",
        arguments: ["packed", "files"]
    )
    func damagedComparison(layout: String) throws {
        _ = try makeDamagedCopy(layout)
        for caches in [["c", "d"], ["d", "c"], ["d", "d"]] {
            let run = ToolRun(["diff", "--root", workspace.root] + caches, on: DiskCache.backend)
            #expect(run.status == .trouble && run.output.text.isEmpty, "\(caches): \(run.output.text)")
            #expect(run.errors.lines.count == 1, "\(caches): \(run.errors.text)")
        }
        // The other entries are compared all the same.
        #expect(DiskCache(workspace, "c").run("remove", "0", "1", "2").status == .success)
        let run = ToolRun(["diff", "c", "d", "--root", workspace.root], on: DiskCache.backend)
        #expect(run.status == .trouble && run.output.lines.count == 2 && run.errors.lines.count == 1)
    }

    @Test("A reader that has seen enough hides no difference")
    func closedComparison() throws {
        for name in ["a", "b"] { try save(name) }
        try DiskCache(workspace, "d").save(DiskCache.archive("v"), "a")
        let words = ["diff", "c", "d", "--root", workspace.root]
        #expect(ToolRun(words, on: DiskCache.backend, output: MemoryOutput(room: 0)).status == .failure)
        #expect(
            ToolRun(words + ["--json"], on: DiskCache.backend, output: MemoryOutput(room: 0)).status == .failure
        )
    }

    @Test("Differences that cannot be printed are no comparison", arguments: [true, false])
    func lostComparison(isHeldBack: Bool) throws {
        try save("a")
        try DiskCache(workspace, "d").save(DiskCache.archive("v"), "b")
        let output = MemoryOutput(room: 0, error: .failed(errno: 28), isHeldBack: isHeldBack)
        let run = ToolRun(["diff", "c", "d", "--root", workspace.root], on: DiskCache.backend, output: output)
        #expect(run.status == .trouble)
        #expect(run.errors.text == "typed-cache: standard output cannot be written: \(SystemMessage(28))\n")
    }

    @Test(
        "Texts that are canonically equal, and zeros of both signs, are other values; what is not there is no member"
    )
    func bytewiseDifferences() throws {
        func warm(_ name: String, _ line: String, tag: String) {
            let words = ["warm", "-", "--key", "id", "--tag", tag] + DiskCache(workspace, name).options
            let run = ToolRun(words, on: DiskCache.backend, input: line)
            #expect(run.status == .success, "\(run.errors.text)")
        }
        warm("c", #"{"id":"k","t":"\u00e9","n":0.0,"gone":null,"\u00e9":1,"same":"\u00e9"}"#, tag: "\u{E9}")
        warm("d", #"{"id":"k","t":"e\u0301","n":-0.0,"new":null,"e\u0301":1,"same":"\u00e9"}"#, tag: "e\u{301}")
        func diff(_ words: String...) -> ToolRun {
            ToolRun(["diff", "c", "d", "--root", workspace.root] + words, on: DiskCache.backend)
        }
        let long = diff("--long")
        #expect(long.status == .failure && long.output.lines.count == 8, "\(long.output.text)")
        for line in [
            #"    (tags): ["\u00e9"] -> ["e\u0301"]"#, #"    t: "\u00e9" -> "e\u0301""#, "    n: 0.0 -> -0.0",
        ] {
            #expect(long.output.lines.contains(line), "\(line): \(long.output.text)")
        }
        let json = diff("--json").output.text
        #expect(json.contains(#"{"field":"gone","former":null}"#), "\(json)")
        #expect(json.contains(#"{"field":"new","latter":null}"#), "\(json)")
        let same = ToolRun(["diff", "c", "c", "--root", workspace.root], on: DiskCache.backend)
        #expect(same.status == .success)
    }

    @Test("Values whose texts are equal are told apart by their types")
    func typesOfDifferences() throws {
        for (name, fields) in [("c", "x:data,n:int,same:string"), ("d", "x:string,n:double,same:string")] {
            let warmed = ToolRun(
                ["warm", "-", "--key", "x", "--fields", fields] + DiskCache(workspace, name).options,
                on: DiskCache.backend,
                input: #"{"x":"AP8=","n":1,"same":"s"}"#
            )
            #expect(warmed.status == .success, "\(warmed.errors.text)")
        }
        let run = ToolRun(["diff", "c", "d", "--root", workspace.root, "--long"], on: DiskCache.backend)
        #expect(run.output.lines.first == "~ AP8=" && run.output.lines.count == 3)
        #expect(run.output.lines.contains(#"    x: data "AP8=" -> string "AP8=""#), "\(run.output.text)")
        #expect(run.output.lines.contains("    n: 1 -> 1.0"))
    }

    @Test("Sizes before and after compression are those of the same entries")
    func statisticsOfExpired() throws {
        try saveSamples()
        let archives = try cache.contents().values.map(\.archive.count).reduce(0, +)
        let counted = cache.run("stats", "--json").output.text
        #expect(
            counted.contains(#""entries":4,"#) && counted.contains(#""archiveSize":\#(archives),"#),
            "\(counted)"
        )
    }

    @Test("Caches are listed with their numbers, and one that cannot be opened is told")
    func listing() throws {
        try saveSamples()
        try DiskCache(workspace, "small").save(DiskCache.archive("x"), "k")
        let list = ToolRun(["caches", "--root", workspace.root, "--json", "--check"], on: DiskCache.backend)
        #expect(list.status == .success, "\(list.errors.text)")
        #expect(list.output.text.contains("\"entries\": 4") && list.output.text.contains("\"expired\": 1"))
        let counted = cache.run("stats", "--json").output.text
        #expect(counted.contains(#""entries":4"#) && counted.contains(#""expired":1"#), "\(counted)")
        #expect(ToolRun(["caches", "--root", workspace.root], on: DiskCache.backend).output.lines.count == 3)
        let marker = workspace.root + "/small/format"
        try Data("typed-cache packed store, format 99\n".utf8).write(to: URL(fileURLWithPath: marker))
        let mixed = ToolRun(["caches", "--root", workspace.root], on: DiskCache.backend)
        #expect(mixed.status == .failure && mixed.output.lines.count == 2)
        #expect(mixed.errors.text.contains("small"))
        #expect(ToolRun(["caches", "--root", workspace.root + "/none"], on: DiskCache.backend).status == .failure)
        let file = ToolRun(["caches", "--root", marker], on: DiskCache.backend)
        #expect(file.errors.text == "typed-cache: \(marker)/ cannot be read: Not a directory\n")
    }

    @Test(
        "A cache whose file “format” cannot be read is told; a directory without one is not a cache",
        arguments: ["", "typed-cache facked store, format 1\n", nil]
    )
    func unreadableMarkers(marker: String?) throws {
        try save("a")
        let small = DiskCache(workspace, "small")
        try small.save(DiskCache.archive("x"), "k")
        let format = workspace.root + "/small/format"
        try FileManager.default.removeItem(atPath: format)
        let without = ToolRun(["caches", "--root", workspace.root], on: DiskCache.backend)
        #expect(without.status == .success && without.output.lines.count == 2 && without.errors.text.isEmpty)
        if let marker {
            try Data(marker.utf8).write(to: URL(fileURLWithPath: format))
        } else {
            try FileManager.default.createSymbolicLink(atPath: format, withDestinationPath: "format")
        }
        let list = ToolRun(["caches", "--root", workspace.root], on: DiskCache.backend)
        #expect(list.status == .failure && list.output.lines.count == 2, "\(list.output.text)")
        #expect(list.errors.lines.count == 1 && list.errors.text.hasPrefix("typed-cache: small: "))
        #expect(list.errors.text.contains(format), "\(list.errors.text)")
        let isDamaged = marker != nil
        #expect(list.errors.text.contains("or remove the directory to start empty") == isDamaged)
    }

    @Test("All caches are listed, however many there are")
    func manyCaches() throws {
        let marker = Data("typed-cache packed store, format 1\n".utf8)
        for number in 0..<1_100 {
            let folder = URL(fileURLWithPath: workspace.root).appending(path: "c\(number)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try marker.write(to: folder.appending(path: "format"))
        }
        let location = CacheLocation.root(workspace.root)
        #expect(try DiskCache.backend.names(at: location).count == 1_100)
    }

    @Test("A record comes as JSON, as a property list, or as it was saved")
    func forms() throws {
        let run = ToolRun(
            ["warm", "-", "--key", "id"] + cache.options,
            on: DiskCache.backend,
            input: #"{"id":"a","n":1,"l":[1.5,true]}"# + "\n" + #"{"id":"b","n":null}"#
        )
        #expect(run.status == .success)
        for form in ["xml", "plist"] {
            let bytes = cache.run("get", "a", "--as", form).output.bytes
            let value = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any]
            #expect(value?["n"] as? Int == 1 && (value?["l"] as? [Any])?.count == 2)
        }
        let null = cache.run("get", "b", "--as", "xml")
        #expect(null.status == .failure && null.errors.text.contains("cannot hold null, at root.n"))
        let raw = cache.run("get", "a", "--raw").output.bytes
        #expect(try ArchiveTree(sharing: Data(raw)).roots.count >= 1)
        #expect(cache.run("get", "a", "b", "none", "--json").output.lines.count == 2)
    }
}
