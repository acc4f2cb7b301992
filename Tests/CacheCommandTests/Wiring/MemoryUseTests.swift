import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand

/// The memory that the command takes: of a large entry as a multiple of its archive, of many entries no more than of few.
@Suite(.serialized, .enabled(if: isLongRun, "it takes long: in .ci/run only"))
struct MemoryUseTests {
    private static let byteCount = 64 << 20

    private let workspace: Workspace
    private let cache: DiskCache

    init() throws {
        workspace = try Workspace()
        cache = DiskCache(workspace)
    }

    /// The most memory that the command had at once, in bytes; `nil` if there is no Python to ask.
    ///
    /// Python starts it, since a process begins with the peak of the one that started it.
    private func peak(_ arguments: [String]) throws -> Int? {
        let script = """
            import resource, subprocess, sys
            run = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
            print(run.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
            """
        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = try ["python3", "-c", script, RealTool.executable.path] + arguments
        let output = Pipe.make()
        python.standardOutput = output
        try python.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        python.waitUntilExit()
        if python.terminationStatus == 127 { return nil }
        let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
        try #require(numbers.count == 2)
        #expect(numbers[0] == 0, "\(arguments)")
        #if canImport(Darwin)
            return numbers[1]
        #else
            return numbers[1] << 10
        #endif
    }

    @Test(
        "Memory holds an archive once, and not at all where it only passes through",
        arguments: variants([true, false], at: 1)
    )
    func largeEntry(isCompressible: Bool) throws {
        let data =
            if isCompressible {
                Data(count: Self.byteCount)
            } else {
                try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom")).read(upToCount: Self.byteCount)
            }
        try cache.save(
            [UInt8](KeyedArchiver.archivedData(withRootObject: #require(data), requiringSecureCoding: false)),
            "large"
        )
        let folder = workspace.url.appending(path: "out").path
        guard let base = try peak(["--version"]) else {
            print("skipped: there is no python3 here")
            return
        }
        // The bytes on disk are in memory once, too: next to nothing, or as much again.
        let stored = isCompressible ? 0.0 : 1.0
        let bounds: [(words: [String], multiple: Double)] = [
            (["verify"] + cache.options, 0.5),
            (["export", folder] + cache.options, 0.5),
            (["get", "large"] + cache.options, 1.5),
            (["dump", "large"] + cache.options, 1.5),
            (["import", folder, "--dry-run"] + cache.options, 1.5 - stored),
            (["import", folder, "--cache", "other", "--root", workspace.root], 1.5),
        ]
        for (words, multiple) in bounds {
            let bytes = try #require(try peak(words)) - base
            let limit = Int((multiple + stored) * Double(Self.byteCount))
            #expect(bytes < limit, "\(words[0]): \(bytes >> 20) MiB of \(limit >> 20)")
        }
        let other = DiskCache(workspace, "other")
        #expect(try other.contents() == cache.contents())
    }

    @Test(
        "25 times the entries take no more memory to list, count and report",
        .enabled(
            if: isLongRun,
            "it takes long: in .ci/run only"
        )
    )
    func manyEntries() throws {
        let counts = ["few": 4_000, "many": 100_000]
        for (name, count) in counts {
            let words = try [
                "warm", workspace.records(count), "--key", "id", "--cache", name, "--layout", "packed",
            ]
            try #require(RealTool.run(words + ["--root", workspace.root]).status == 0)
        }
        let commands = [
            ["list"], ["list", "--long"], ["list", "--json"], ["list", "--sort", "key", "--limit", "100"],
            ["report"],
            ["stats"], ["remove", "--expired", "--dry-run"],
        ]
        for words in commands {
            func bytes(_ name: String) throws -> Int? {
                try peak(words + ["--cache", name, "--root", workspace.root])
            }
            guard let few = try bytes("few"), let many = try bytes("many") else {
                print("skipped: there is no python3 here")
                return
            }
            // After a 64th of the entries, `warm` leaves no index, and the first command has all of it in memory: 58
            // bytes an entry. It writes the index if there is more behind it. The pages of the program's file that were
            // read at once make up to 1 MiB.
            #expect(many - few < 7 << 20, "\(words): \(few >> 10) KiB, then \(many >> 10)")
        }
    }
}
