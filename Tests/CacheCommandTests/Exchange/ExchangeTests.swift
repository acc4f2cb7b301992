import ArchiveStore
import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// Exported entries that are imported again are as they were.
struct ExchangeTests {
    private let workspace: Workspace
    private let cache: DiskCache
    private let other: DiskCache
    private let folder: String

    init() throws {
        workspace = try Workspace()
        cache = DiskCache(workspace)
        other = DiskCache(workspace, "other")
        folder = workspace.url.appending(path: "out").path
    }

    private func names() throws -> Set<String> { try Set(FileManager.default.contentsOfDirectory(atPath: folder)) }

    private func mode(_ path: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
    }

    @Test(
        "Exported and imported, a cache has every key, byte and attribute that it had",
        arguments: 0..<(isLongRun ? 20 : 4) as Range<UInt64>
    )
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for key in ArchiveFileNameTests.keys {
            try cache.save(DiskCache.archive("value of \(key)"), key, with: random.attributes())
        }
        let export = cache.run("export", folder)
        #expect(export.status == .success, "\(export.errors.text)")
        #expect(try names().count == ArchiveFileNameTests.keys.count + 1)
        let imported = other.run("import", folder)
        #expect(imported.status == .success, "\(imported.errors.text)")
        let (expected, found) = (try cache.contents(), try other.contents())
        #expect(expected.count == ArchiveFileNameTests.keys.count)
        #expect(found == expected, "seed \(seed)")
    }

    @Test("Files are their user's own, and archives as they are")
    func files() throws {
        let archive = try DiskCache.archive("x")
        try cache.save(archive, "a/b")
        #expect(cache.run("export", folder).output.text.hasPrefix("1 entry exported, \(archive.count) B, "))
        #expect(try names() == ["index.ndjson", "a%2Fb.plist"])
        let file = folder + "/a%2Fb.plist"
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: file))) == archive)
        #expect(try mode(folder) == 0o700 && mode(file) == 0o600 && mode(folder + "/index.ndjson") == 0o600)
        let index = try String(contentsOfFile: folder + "/index.ndjson", encoding: .utf8)
        #expect(
            index == """
                {"format":"typed-cache export","version":3}
                {"file":"a%2Fb.plist","key":"a/b","storedAt":"2023-03-08T20:26:40Z"}
                {"end":1}

                """
        )
    }

    @Test(
        "Dates are text that people read, or numbers where that would round; both are read, as a former index has them"
    )
    func dates() throws {
        let archive = try DiskCache.archive("x")
        var attributes = DiskCache.attributes(expiresAt: Date(timeIntervalSinceReferenceDate: 9e8 + 0.1234567))
        try cache.save(archive, "near", with: attributes)
        attributes = DiskCache.attributes(expiresAt: Date(timeIntervalSinceReferenceDate: 1e12))
        try cache.save(archive, "far", with: attributes)
        #expect(cache.run("export", folder).status == .success)
        let path = folder + "/index.ndjson"
        let index = try String(contentsOfFile: path, encoding: .utf8)
        #expect(index.contains(#""storedAt":"2023-03-08T20:26:40Z","expiresAt":"2029-07-09T16:00:00.123456"#))
        #expect(index.contains(#""storedAt":"2023-03-08T20:26:40Z","expiresAt":1000000000000.0}"#))
        #expect(other.run("import", folder).status == .success)
        #expect(try other.contents() == cache.contents())

        let former = """
            {"format":"typed-cache export","version":1}
            {"file":"near.plist","key":"near","storedAt":700000000.0,"expiresAt":\(9e8 + 0.1234567)}
            {"file":"far.plist","key":"far","storedAt":700000000,"expiresAt":1000000000000.0}

            """
        try Data(former.utf8).write(to: URL(fileURLWithPath: path))
        #expect(other.run("clear", "--yes").status == .success)
        #expect(other.run("import", folder).status == .success)
        #expect(try other.contents() == cache.contents())
    }

    @Test("A directory with nothing to import is told, and no cache is made; an export of no entries is fine")
    func nothing() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/notes.txt"))
        for options in [[], ["--dry-run"]] {
            let run = ToolRun(["import", folder] + options + other.options, on: DiskCache.backend)
            #expect(run.status == .failure && run.output.text.isEmpty)
            #expect(
                run.errors.text
                    == "typed-cache: there is nothing to import in \(folder): no index.ndjson, no .plist and no .archive\n"
            )
        }
        #expect(!FileManager.default.fileExists(atPath: workspace.root + "/other"))
        try cache.save(DiskCache.archive("x"), "x")
        _ = cache.run("remove", "x")
        #expect(cache.run("export", folder, "--force").status == .success)
        let none = other.run("import", folder)
        #expect(none.status == .success && none.output.text == "0 entries imported, 0 expired, 0 invalid\n")
    }

    /// A power failure, a full disk or `kill -9` leaves the beginning of an export, and so does a copy that was cut off.
    @Test("Of an index that was cut off at any line all is imported that is there, and that it is not all is told")
    func cutOff() throws {
        for index in 0..<5 { try cache.save(DiskCache.archive("\(index)"), "key \(index)") }
        #expect(cache.run("export", folder).status == .success)
        let path = folder + "/index.ndjson"
        let whole = try String(contentsOfFile: path, encoding: .utf8)
        let lines = whole.split(separator: "\n")
        func take(_ index: String, _ words: String...) throws -> ToolRun {
            try Data(index.utf8).write(to: URL(fileURLWithPath: path))
            #expect(other.run("clear", "--yes").status != .usage)
            return ToolRun(["import", folder] + words + other.options, on: DiskCache.backend)
        }
        for count in 0...5 {
            let index = lines[...count].joined(separator: "\n") + "\n"
            let run = try take(index, "--json")
            #expect(
                run.status == .failure && run.output.text.contains(#""imported":\#(count),"#),
                "\(run.output.text)"
            )
            #expect(run.output.text.contains(#""cutOff":true"#))
            #expect(
                run.errors.text.contains("index.ndjson ends too early: the export was interrupted after \(count) ")
            )
            // Versions without a line for the end cannot tell.
            let former = try take(index.replacing(#""version":3"#, with: #""version":2"#))
            #expect(former.status == .success && former.errors.text.isEmpty, "\(former.errors.text)")
        }
        // In the middle of a line.
        let torn = try take(String(whole.dropLast(20)))
        #expect(torn.status == .failure && torn.output.text.hasSuffix("1 invalid, the export is not whole\n"))
        // Lines that were taken out.
        let short = try take(([lines[0]] + lines[2...]).joined(separator: "\n"))
        #expect(short.status == .failure && short.errors.text.contains("has 4 entries, and its last line says 5"))
        #expect(try take(whole).status == .success)
    }

    @Test("A file whose name is not UTF-8 is told, and not taken for one whose name it is repaired to")
    func nameOfOtherBytes() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let name: [CChar] =
            Array((folder + "/bad").utf8.map { CChar(bitPattern: $0) }) + [-1] + ".plist".utf8CString
        let file = open(name, O_WRONLY | O_CREAT, 0o600)
        // Some file systems have no such names.
        guard file >= 0 else { return }
        close(file)
        let repaired = URL(fileURLWithPath: folder + "/bad\u{FFFD}.plist")
        try Data(DiskCache.archive("x")).write(to: repaired)
        let run = cache.run("import", folder)
        #expect(run.status == .failure && run.output.text == "1 entry imported, 0 expired, 1 invalid\n")
        #expect(run.errors.text == "typed-cache: bad\u{FFFD}.plist: its name is not UTF-8\n", "\(run.errors.text)")
    }

    @Test("A large entry is written as it is read, and one that is not an archive leaves neither a file nor a line")
    func damagedLarge() throws {
        // Above 16 MiB only the beginning is looked at, but for an import.
        let bytes = [UInt8](try KeyedArchiver.archivedData(withRootObject: Data(count: 40 << 20)))
        try cache.save(Array("bplist00".utf8) + [UInt8](repeating: 0, count: 40 << 20), "not an archive")
        try cache.save(bytes, "large")
        let verify = cache.run("verify")
        #expect(verify.output.text == "2 sound, 0 expired, 0 damaged\n")
        #expect(cache.run("export", folder).status == .success)
        let imported = other.run("import", folder)
        #expect(imported.status == .failure && imported.output.text == "1 entry imported, 0 expired, 1 invalid\n")
        #expect(imported.errors.text.contains("is not a keyed archive"))
        try cache.save([UInt8](repeating: 0, count: 40 << 20), "zeros")
        let export = cache.run("export", folder, "--force")
        #expect(export.status == .failure && export.errors.text.contains("'zeros': no keyed archive: "))
        #expect(try names() == ["index.ndjson", "large.plist", "not%20an%20archive.plist"])
        let index = try String(contentsOfFile: folder + "/index.ndjson", encoding: .utf8)
        #expect(!index.contains("zeros"))
    }

    @Test("Expired entries are left out, or written with --all, and not imported once they are of no use")
    func expired() throws {
        let past = Date.now.addingTimeInterval(-100)
        var stale = DiskCache.attributes(expiresAt: past)
        stale.staleIfError = 1e6
        try cache.save(DiskCache.archive("old"), "old", with: DiskCache.attributes(expiresAt: past))
        try cache.save(DiskCache.archive("stale"), "stale", with: stale)
        try cache.save(DiskCache.archive("new"), "new")
        #expect(
            cache.run("export", folder, "--json").output.text.hasSuffix(
                #""expired":2,"failed":0,"interrupted":false}"# + "\n"
            )
        )
        #expect(try names() == ["index.ndjson", "new.plist"])
        #expect(cache.run("export", folder, "--force", "--all").status == .success)
        #expect(try names() == ["index.ndjson", "new.plist", "old.plist", "stale.plist"])
        let imported = other.run("import", folder, "--json")
        #expect(
            imported.output.text
                == #"{"read":3,"imported":2,"expired":1,"present":0,"invalid":0,"cutOff":false,"interrupted":false}"#
                + "\n"
        )
        #expect(try Set(other.contents().keys) == [Array("new".utf8), Array("stale".utf8)])
    }

    @Test("Entries that are there give way, or stay with --keep unless they have expired")
    func keep() throws {
        for key in ["a", "b"] { try cache.save(DiskCache.archive("new"), key) }
        #expect(cache.run("export", folder).status == .success)
        let old = try DiskCache.archive("old")
        try other.save(old, "a")
        try other.save(old, "b", with: DiskCache.attributes(expiresAt: .now.addingTimeInterval(-1)))
        let kept = other.run("import", folder, "--keep")
        #expect(kept.output.text == "1 entry imported, 0 expired, 1 there already, 0 invalid\n")
        let contents = try other.contents()
        #expect(contents[Array("a".utf8)]?.archive == old)
        #expect(try contents[Array("b".utf8)]?.archive == DiskCache.archive("new"))
        #expect(other.run("import", folder).output.text == "2 entries imported, 0 expired, 0 invalid\n")
        #expect(try other.contents() == cache.contents())
    }

    @Test("A dry run checks every file and makes no cache")
    func dryRun() throws {
        try cache.save(DiskCache.archive("a"), "a")
        _ = cache.run("export", folder)
        let run = other.run("import", folder, "--dry-run")
        #expect(run.status == .success && run.output.text == "1 entry valid, 0 expired, 0 invalid\n")
        let json = other.run("import", folder, "--dry-run", "--json").output.text
        #expect(json.hasPrefix(#"{"read":1,"imported":0,"valid":1,"expired":0,"#), "\(json)")
        #expect(!FileManager.default.fileExists(atPath: workspace.root + "/other"))
        try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/a.plist"))
        #expect(other.run("import", folder, "--dry-run").status == .failure)
    }

    @Test("One export at a time writes into a directory")
    func overlapping() throws {
        try cache.save(DiskCache.archive("1"), "a")
        #expect(cache.run("export", folder).status == .success)
        let former = try names()
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY)
        try #require(descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        try other.save(DiskCache.archive("2"), "b")
        let second = other.run("export", folder, "--force")
        #expect(second.status == .failure && second.output.text.isEmpty)
        #expect(
            second.errors.text
                == "typed-cache: another export writes into \(folder); wait for its end, or use another directory\n"
        )
        #expect(try names() == former)
        close(descriptor)
        #expect(other.run("export", folder, "--force").status == .success)
        #expect(try names() == ["index.ndjson", "b.plist"])
    }

    @Test("A directory that holds anything is refused; with --force only an export's own files go")
    func force() throws {
        for key in ["a", "b"] { try cache.save(DiskCache.archive("1"), key) }
        #expect(cache.run("export", folder).status == .success)
        let again = cache.run("export", folder)
        #expect(again.status == .failure && again.errors.text.contains("--force"))

        // Someone's own file, also where an entry's would go, and one that a line claims.
        let (notes, taken) = (folder + "/notes.txt", folder + "/c.plist")
        for path in [notes, taken] { try Data("mine".utf8).write(to: URL(fileURLWithPath: path)) }
        let index = try #require(FileHandle(forWritingAtPath: folder + "/index.ndjson"))
        try index.seekToEnd()
        try index.write(contentsOf: Data(#"{"file":"notes.txt","key":"notes.txt","storedAt":0}"#.utf8))
        try index.close()
        try cache.save(DiskCache.archive("1"), "c")
        _ = cache.run("remove", "b")
        let forced = cache.run("export", folder, "--force")
        #expect(forced.status == .success, "\(forced.errors.text)")
        #expect(try names() == ["index.ndjson", "a.plist", "c.plist", "notes.txt", ArchiveFileName.hashed("c")])
        for path in [notes, taken] { #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine") }
        #expect(other.run("import", folder).status == .success)
        #expect(try other.contents() == cache.contents())
    }

    @Test("Nothing is written through a link, and nobody's index is replaced", arguments: [true, false])
    func links(forced: Bool) throws {
        try cache.save(DiskCache.archive("1"), "a")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let outside = try workspace.file("outside", "mine")
        try FileManager.default.createSymbolicLink(atPath: folder + "/a.plist", withDestinationPath: outside)
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/.typed-cache-draft",
            withDestinationPath: outside
        )
        let run = cache.run("export", folder, "--force")
        // A link has the draft's name: it is not the command's to remove.
        #expect(run.status == .failure)
        try FileManager.default.removeItem(atPath: folder + "/.typed-cache-draft")
        #expect(cache.run("export", folder, "--force").status == .success)
        #expect(try names() == ["index.ndjson", "a.plist", ArchiveFileName.hashed("a")])
        #expect(try String(contentsOfFile: outside, encoding: .utf8) == "mine")

        let index = folder + "/index.ndjson"
        try FileManager.default.removeItem(atPath: index)
        if forced {
            try FileManager.default.createSymbolicLink(atPath: index, withDestinationPath: outside)
        } else {
            try Data("{\"mine\":1}\n".utf8).write(to: URL(fileURLWithPath: index))
        }
        let refused = cache.run("export", folder, "--force")
        #expect(refused.status == .failure && refused.errors.text.contains("was not written by export"))
        #expect(try String(contentsOfFile: outside, encoding: .utf8) == "mine")
        #expect(other.run("import", folder).status == .failure)
    }

    @Test(
        "Interrupted at any entry, an export leaves whole files, all of them in its index",
        arguments: [0, 1, 7, 20]
    )
    func interrupted(count: Int) throws {
        for index in 0..<20 { try cache.save(DiskCache.archive("\(index)"), "key \(index)") }
        let interruption = TestInterruption()
        let access = StoppingAccess(try DiskCache.backend.open(cache.selection)) {
            if $0 == count { interruption.arrive(2) }
        }
        if count == 0 { interruption.arrive(2) }
        let run = ToolRun(
            ["export", folder] + cache.options,
            on: StoppingBackend(access: access),
            interruption: interruption
        )
        #expect(run.status == .signal(2) && run.output.text.hasSuffix(", interrupted\n"))
        #expect(try names().count == count + 1)
        let imported = other.run("import", folder)
        let counted = "\(count) \(count == 1 ? "entry" : "entries")"
        #expect(imported.status == .failure && imported.output.text.hasPrefix("\(counted) imported"))
        #expect(imported.errors.text.hasSuffix("the export was interrupted after \(counted)\n"))
        // Started again, it completes.
        #expect(cache.run("export", folder, "--force").status == .success)
        #expect(other.run("import", folder).status == .success)
        #expect(try other.contents() == cache.contents())
    }

    @Test("Damaged entries are told and left out")
    func damaged() throws {
        for key in ["a", "b", "c"] { try cache.save(DiskCache.archive(key), key) }
        try cache.save([1, 2, 3], "no archive")
        try cache.damageFirst()
        let before = cache.files()
        let run = cache.run("export", folder)
        #expect(run.status == .failure)
        #expect(run.errors.lines.count == 4 - (try names().count - 1))
        let remedy = "; typed-cache verify --repair removes damaged entries"
        #expect(run.errors.lines.allSatisfy { $0.hasSuffix(remedy) })
        #expect(cache.files() == before)
    }

    @Test(
        "A failure ends an import with its reason, and the entries before it are counted",
        arguments: [false, true]
    )
    func failingImport(isJSON: Bool) throws {
        for key in ["a", "b", "c"] { try cache.save(DiskCache.archive(key), key) }
        #expect(cache.run("export", folder).status == .success)
        let base = try DiskCache.backend.openOrCreate(other.selection, disk: DiskSettings())
        let full = StoppingAccess(
            base,
            willSave: { count throws(CacheError) in
                if count == 2 { throw CacheError(.io, "the disk is full") }
            }
        )
        let words = ["import", folder] + (isJSON ? ["--json"] : [])
        let run = ToolRun(words + other.options, on: StoppingBackend(access: full))
        #expect(
            run.status == .failure && run.errors.text == "typed-cache: the disk is full\n",
            "\(run.errors.text)"
        )
        let counted = isJSON ? #"{"read":3,"imported":2,"# : "2 entries imported, 0 expired, 0 invalid\n"
        #expect(run.output.text.hasPrefix(counted), "\(run.output.text)")
    }

    @Test("A cache or directory that is not there is told, and nothing is made")
    func missing() throws {
        #expect(cache.run("export", folder).errors.text.contains("no cache 'c'"))
        #expect(cache.run("import", folder).errors.text.contains("No such file"))
        #expect(cache.run("export").status == .usage && cache.run("import").status == .usage)
        let file = try workspace.file("file", "x")
        #expect(cache.run("import", file).status == .failure)
        let made = try FileManager.default.contentsOfDirectory(atPath: workspace.url.path)
        #expect(made == ["file"])
    }

    @Test("Progress is shown on a terminal")
    func progress() throws {
        for index in 0..<200 { try cache.save(DiskCache.archive("\(index)"), "key \(index)") }
        let export = cache.run("export", folder, columns: 80)
        #expect(export.errors.text.contains("% ") && export.errors.text.contains(" entries"))
        #expect(other.run("import", folder, columns: 80).errors.text.contains(" entries"))
        #expect(cache.run("verify", columns: 80).errors.text.contains(" entries"))
        #expect(cache.run("verify").errors.text.isEmpty)
    }
}
