import Foundation
import Testing

@testable import CacheCommand

/// `import` of directories that no export wrote.
struct HostileImportTests {
    private let workspace: Workspace
    private let cache: DiskCache
    private let folder: URL

    init() throws {
        workspace = try Workspace()
        cache = DiskCache(workspace)
        folder = workspace.url.appending(path: "in", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write("good.plist", DiskCache.archive("good"))
    }

    private func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: folder.appending(path: name))
    }

    private func index(_ lines: [String]) throws {
        let text = ([#"{"format":"typed-cache export","version":1}"#] + lines).joined(separator: "\n")
        try write("index.ndjson", Array(text.utf8))
    }

    private func link(_ name: String, to path: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: name).path,
            withDestinationPath: path
        )
    }

    @Test("Lines that name no plain file with a key are told with their number; the rest goes on")
    func lines() throws {
        let outside = workspace.url.appending(path: "outside.plist")
        try Data(DiskCache.archive("secret")).write(to: outside)
        try link("link.plist", to: outside.path)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "sub"),
            withIntermediateDirectories: true
        )
        try write("sub/in.plist", DiskCache.archive("below"))
        try write(".hidden.plist", DiskCache.archive("hidden"))
        try write("junk.plist", Array("junk".utf8))
        try write("empty.plist", [])
        // More than an entry may have, which takes no room.
        try write("huge.plist", [])
        try #require(truncate(folder.appending(path: "huge.plist").path, 1 << 40) == 0)
        try #require(mkfifo(folder.appending(path: "pipe.plist").path, 0o600) == 0)
        let long = String(repeating: "k", count: 1_025)
        let tags = (0..<11).map { "\"\($0)\"" }.joined(separator: ",")
        let good = #"{"file":"good.plist","key":"good","storedAt":1}"#
        let bad = [
            #"{"file":"../outside.plist","key":"a","storedAt":1}"#,
            #"{"file":"\#(outside.path)","key":"a","storedAt":1}"#,
            #"{"file":"sub/in.plist","key":"a","storedAt":1}"#,
            #"{"file":"..","key":"a","storedAt":1}"#,
            #"{"file":".","key":"a","storedAt":1}"#,
            #"{"file":".hidden.plist","key":"a","storedAt":1}"#,
            #"{"file":"","key":"a","storedAt":1}"#,
            #"{"file":"good.plist\u0000","key":"a","storedAt":1}"#,
            #"{"file":"sub","key":"a","storedAt":1}"#,
            #"{"file":"link.plist","key":"a","storedAt":1}"#,
            #"{"file":"pipe.plist","key":"a","storedAt":1}"#,
            #"{"file":"missing.plist","key":"a","storedAt":1}"#,
            #"{"file":"junk.plist","key":"a","storedAt":1}"#,
            #"{"file":"empty.plist","key":"a","storedAt":1}"#,
            #"{"file":"huge.plist","key":"a","storedAt":1}"#,
            #"{"file":"index.ndjson","key":"a","storedAt":1}"#,
            #"{"file":7,"key":"a","storedAt":1}"#,
            #"{"file":"good.plist","storedAt":1}"#,
            #"{"file":"good.plist","key":"","storedAt":1}"#,
            #"{"file":"good.plist","key":"\#(long)","storedAt":1}"#,
            #"{"file":"good.plist","key":"a"}"#,
            #"{"file":"good.plist","key":"a","storedAt":"NaN"}"#,
            #"{"file":"good.plist","key":"a","storedAt":1e999}"#,
            #"{"file":"good.plist","key":"a","storedAt":1,"idleTime":-1}"#,
            #"{"file":"good.plist","key":"a","storedAt":1,"loadTime":[]}"#,
            #"{"file":"good.plist","key":"a","storedAt":1,"tags":"x"}"#,
            #"{"file":"good.plist","key":"a","storedAt":1,"tags":[1]}"#,
            #"{"file":"good.plist","key":"a","storedAt":1,"tags":[""]}"#,
            #"{"file":"good.plist","key":"a","storedAt":1,"tags":[\#(tags)]}"#,
            #"{"file":"good.plist","key":"a","key":"b","storedAt":1}"#,
            "[]", "{", "\u{1}", String(repeating: " ", count: 70_000) + "x",
        ]
        // The same in a dry run: nothing is found out by saving alone.
        for arguments in [["import", folder.path, "--dry-run"], ["import", folder.path]] {
            for line in bad {
                try index([line, good])
                let run = ToolRun(arguments + cache.options, on: DiskCache.backend)
                #expect(run.status == .failure, "\(line.prefix(80))")
                #expect(
                    run.errors.text.hasPrefix("typed-cache: line 2: "),
                    "\(line.prefix(80)): \(run.errors.text)"
                )
                #expect(run.output.text.hasPrefix("1 entry "), "\(line.prefix(80)): \(run.output.text)")
            }
        }
        #expect(try Array(cache.contents().keys) == [Array("good".utf8)])
        try index(bad + [good])
        let all = cache.run("import", folder.path)
        #expect(all.errors.lines.count == 21 && all.errors.text.contains("line 21: "))
        #expect(all.output.text == "1 entry imported, 0 expired, \(bad.count) invalid\n")
    }

    @Test("Times of any size are taken as they are")
    func extremeTimes() throws {
        let times = [
            "0", "-1e308", "1e308", #""Infinity""#, #""-Infinity""#, "18446744073709551615", "-0", "4.9e-324",
        ]
        var lines: [String] = []
        for (index, time) in times.enumerated() {
            lines.append(#"{"file":"good.plist","key":"s\#(index)","storedAt":\#(time)}"#)
            lines.append(#"{"file":"good.plist","key":"e\#(index)","storedAt":0,"expiresAt":\#(time)}"#)
        }
        try index(lines)
        #expect(cache.run("import", folder.path).status == .success)
        #expect(try cache.contents().count == 11)
        for words in [["list", "--long"], ["stats"], ["verify"], ["compact"]] {
            #expect(ToolRun(words + cache.options, on: DiskCache.backend).status == .success, "\(words)")
        }
    }

    @Test(
        "A directory of other indices is refused",
        arguments: [
            "", "{}\n", "junk", #"{"format":"typed-cache export","version":4}"#,
            #"{"format":"typed-cache export","version":0}"#, #"{"format":"x","version":1}"#,
        ]
    )
    func headers(header: String) throws {
        try write("index.ndjson", Array(header.utf8))
        let run = cache.run("import", folder.path)
        #expect(run.status == .failure && run.errors.text.contains("index.ndjson"), "\(run.errors.text)")
    }

    @Test("Without an index, archives are saved under their names, decoded")
    func withoutIndex() throws {
        try write("a%2Fb.plist", DiskCache.archive("1"))
        try write("My City.archive", DiskCache.archive("2"))
        try write("notes.txt", [1])
        try write(".hidden.plist", [1])
        let fine = cache.run("import", folder.path)
        #expect(fine.status == .success && fine.output.text == "3 entries imported, 0 expired, 0 invalid\n")
        #expect(try Set(cache.contents().keys) == Set(["good", "a/b", "My City"].map { Array($0.utf8) }))

        try link("link.plist", to: workspace.url.appending(path: "in/good.plist").path)
        for name in ["%.plist", "a~0.plist", ".plist"] { try write(name, DiskCache.archive("3")) }
        try write("junk.plist", [1])
        let run = cache.run("import", folder.path)
        #expect(run.status == .failure && run.output.text == "3 entries imported, 0 expired, 4 invalid\n")
        for name in ["link.plist", "%.plist", "a~0.plist", "junk.plist"] {
            #expect(run.errors.text.contains("typed-cache: \(name): "), "\(name)")
        }
    }
}
