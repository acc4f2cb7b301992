import Foundation
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// The commands that check, move and tidy up a cache, as processes that are killed and interrupted.
@Suite(.serialized) struct RealExchangeTests {
    private let workspace: Workspace
    private let folder: String
    private static let count = 1_500

    init() throws {
        workspace = try Workspace()
        folder = workspace.url.appending(path: "out").path
        let source = try workspace.records(Self.count)
        let warm = try RealTool.run(cache("warm", source, "--key", "id", "--tag", "t", "--ttl", "1h"))
        try #require(warm.status == 0)
    }

    private func cache(_ words: String...) -> [String] { words + ["--cache", "c", "--root", workspace.root] }
    private func other(_ words: String...) -> [String] { words + ["--cache", "d", "--root", workspace.root] }

    private func names() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] }

    /// Starts an export and has `body` run with it once it has written some files.
    private func exporting(_ body: (Process) -> Void) throws -> RealTool.Outcome {
        let (process, output, errors) = try RealTool.start(cache("export", folder))
        while process.isRunning, names().count < 20 { usleep(500) }
        body(process)
        return try RealTool.finish(
            process,
            output: output.fileHandleForReading.readDataToEndOfFile(),
            errors: errors
        )
    }

    @Test(
        "Killed at any instant, an export leaves whole files only; started again, it completes",
        arguments: isLongRun ? 0..<3 : 1..<2
    )
    func killed(round: Int) throws {
        _ = try exporting { process in
            usleep(UInt32(round) * 7_000)
            kill(process.processIdentifier, SIGKILL)
        }
        let files = names().filter { $0.hasSuffix(".plist") }
        #expect(files.count >= 10)
        let imported = try RealTool.run(other("import", folder, "--json"))
        // The last line of the index may be without its file.
        #expect(imported.output.contains(#""imported":\#(files.count),"#), "\(imported.output)\(imported.errors)")
        #expect(imported.status == 1 || files.count == Self.count, "\(imported.output)\(imported.errors)")
        #expect(try RealTool.run(cache("export", folder, "--force")).status == 0)
        #expect(names().count == Self.count + 1)
        #expect(try RealTool.run(other("import", folder)).status == 0)
        try checkOther()
    }

    @Test("Interrupted, an export ends by the signal and has told what it did")
    func interrupted() throws {
        let outcome = try exporting { kill($0.processIdentifier, SIGINT) }
        // It may have been done before the signal came.
        guard outcome.wasSignalled else { return }
        #expect(outcome.status == SIGINT && outcome.output.contains("interrupted"))
        let imported = try RealTool.run(other("import", folder))
        #expect(
            imported.status == 1 && imported.errors.contains("the export was interrupted after"),
            "\(imported.errors)"
        )
    }

    /// A limit of the shell sends a signal that kills, unless it is ignored.
    @Test("A limit on the size of files is an error with the system's reason, and no draft is left")
    func sizeLimit() throws {
        let number = try workspace.file("long.json", "[\(String(repeating: "1234567,", count: 4_000))1]")
        let folder = workspace.url.appending(path: "small").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let lines = [
            "convert \(number) --to xml -o \(folder)/a.plist",
            "report --cache c --root \(workspace.root) --output \(folder)/a.html",
            "export \(folder)/out --cache c --root \(workspace.root)",
        ]
        for line in lines {
            let outcome = try RealTool.runInShell("ulimit -f 4; exec \"$TOOL\" \(line)")
            #expect(!outcome.wasSignalled && outcome.status == 1, "\(line): \(outcome)")
            #expect(outcome.errors.contains(String(cString: strerror(EFBIG))), "\(line): \(outcome)")
            let left = try FileManager.default.subpathsOfDirectory(atPath: folder)
            #expect(left.allSatisfy { !$0.contains("draft") }, "\(line): \(left)")
        }
    }

    private func checkOther() throws {
        #expect(try RealTool.run(other("verify")).output == "1,500 sound, 0 expired, 0 damaged\n")
        let root = URL(fileURLWithPath: workspace.root)
        let entries = try ["c", "d"].map { name in
            let cache = try Cache<Data>(name: name, directory: root)
            return Dictionary(uniqueKeysWithValues: try cache.entries().all().map { ($0.key, $0) })
        }
        #expect(entries[0].count == Self.count && entries[0].keys == entries[1].keys)
        for (key, entry) in entries[0] {
            let copy = entries[1][key]
            #expect(copy?.storedAt == entry.storedAt && copy?.expiresAt == entry.expiresAt && copy?.tags == ["t"])
        }
    }

    @Test("Other programs read the files of an export as property lists")
    func otherReaders() throws {
        #expect(try RealTool.run(cache("export", folder)).status == 0)
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = """
            import json, plistlib, sys
            lines = open(sys.argv[1] + '/index.ndjson', encoding='utf-8').read().splitlines()
            for line in lines[1:-1]:
                entry = json.loads(line)
                archive = plistlib.load(open(sys.argv[1] + '/' + entry['file'], 'rb'))
                assert archive['$archiver'] == 'NSKeyedArchiver' and 'record number ' + entry['key'][1:] in archive['$objects']
            assert len(lines) == 1502 and json.loads(lines[-1]) == {'end': 1500}
            """
        python.arguments = ["python3", "-c", script, folder]
        do { try python.start() } catch { return }
        python.waitUntilExit()
        // 127: there is no Python here.
        #expect([0, 127].contains(python.terminationStatus))
    }

    @Test(
        "A disk that fills up ends an export with its reason; files are whole",
        .enabled(if: SmallVolume.isPossible, "a small volume cannot be mounted here, which takes root")
    )
    func fullDisk() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try SmallVolume.mount("size=1m", at: folder) {
            let outcome = try RealTool.run(cache("export", folder))
            #expect(outcome.status == 1 && outcome.errors.contains("No space left"), "\(outcome.errors)")
            let files = names().filter { $0.hasSuffix(".plist") }
            #expect(outcome.output.hasPrefix("\(files.count) entries exported, "), "\(outcome.output)")
            #expect(!files.isEmpty && !names().contains(".typed-cache-draft"))
            let imported = try RealTool.run(other("import", folder, "--json"))
            let count = #""imported":\#(files.count),"#
            #expect(imported.output.contains(count), "\(imported.output)\(imported.errors)")
        }
    }
}
