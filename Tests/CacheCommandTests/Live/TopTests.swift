import Foundation
import Testing

@testable import ArchiveStore
@testable import CacheCommand
@testable import TypedCache

/// `top` on real directories, without a terminal.
@Suite(.serialized) struct TopTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private struct Line: Codable, Encoded, Sendable { var text = "x" }

    private func cache(_ name: String, publishes: Bool = true) throws -> Cache<Line> {
        try Cache(
            name: name,
            directory: URL(fileURLWithPath: workspace.root),
            settings: CacheSettings(disk: DiskSettings(byteLimit: .mebibytes(2), publishesStatistics: publishes))
        )
    }

    private func top(_ words: String...) -> ToolRun {
        ToolRun(["top"] + words + ["--root", workspace.root], on: TypedCacheBackend())
    }

    private func work(_ cache: Cache<Line>) throws {
        try cache.save(Line(), forKey: "a")
        for _ in 0..<8 { _ = try cache.fetch(forKey: "a") }
        for key in ["b", "c"] { _ = try cache.fetch(forKey: key) }
        cache.core.publishStatistics()
    }

    @Test func oneTable() throws {
        let (first, second) = (try cache("cities"), try cache("長い"))
        try work(first)
        try work(second)
        let run = top("--once")
        #expect(run.status == .success && run.errors.text.isEmpty)
        let lines = run.output.lines
        #expect(lines.count == 3 && lines[0].hasPrefix("CACHE"))
        let cells = lines[1].split(separator: " ")
        #expect(cells[0] == "cities" && cells[1] == "\(ProcessInfo.processInfo.processIdentifier)")
        #expect(cells.contains("80") || cells.contains("80.0"), "\(lines[1])")
        #expect(lines[1].contains("/64M") && lines[1].contains("/2M"))
        #expect(lines.allSatisfy { !$0.hasSuffix(" ") })
    }

    @Test func linesOfJSON() throws {
        let cities = try cache("cities")
        try work(cities)
        let run = top("--once", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(run.output.text.utf8)) as? [String: Any]
        let line = try #require(object)
        #expect(run.output.lines.count == 1)
        #expect(line["cache"] as? String == "cities" && line["state"] as? String == "running")
        #expect(line["process"] as? Int == Int(ProcessInfo.processInfo.processIdentifier))
        #expect(
            line["memoryHits"] as? Int == 8 && line["misses"] as? Int == 2 && line["hitRatio"] as? Double == 0.8
        )
        #expect((line["disk"] as? [String: Any])?["sizeLimit"] as? Int == 2 << 20)
        #expect(line["perSecond"] is NSNull)
    }

    @Test func aProcessThatWasKilledHasEnded() throws {
        let left = workspace.root + "/cities/.live"
        do { _ = try cache("cities", publishes: false) }
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
        let statistics = PublishedStatistics(
            processIdentifier: Int(ProcessInfo.processInfo.processIdentifier),
            program: "evil\u{1B}[2J\n",
            openedAt: .now,
            publishedAt: .now,
            figures: CacheFigures()
        )
        try Data(statistics.bytes).write(to: URL(fileURLWithPath: left + "/0123456789abcdef.stats"))
        let run = top("--once")
        #expect(run.output.lines.count == 2 && run.output.text.contains("ended evil\\u{1b}[2J\\n"))
        #expect(!run.output.text.contains("\u{1B}"))
        #expect(top("--once", "--json").output.text.contains(#""state":"ended""#))
    }

    @Test func damagedFilesAreToldAndOthersShown() throws {
        let cities = try cache("cities")
        try work(cities)
        try Data("nonsense".utf8).write(
            to: URL(fileURLWithPath: workspace.root + "/cities/.live/0123456789abcdef.stats")
        )
        let run = top("--once")
        #expect(run.status == .failure && run.output.lines.count == 2)
        #expect(run.errors.text.hasPrefix("typed-cache: cities: published statistics cannot be read"))
    }

    @Test func whereNothingIsPublished() throws {
        do { _ = try cache("cities", publishes: false) }
        let run = top("--once")
        #expect(run.status == .success && run.errors.text.contains("DiskSettings(publishesStatistics: true)"))
        #expect(ToolRun(["top", "--once", "--root", "/nowhere"], on: TypedCacheBackend()).status == .failure)
    }

    @Test func tablesGoOnUntilASignal() throws {
        let cities = try cache("cities")
        try work(cities)
        let (output, interruption) = (MemoryOutput(), TestInterruption())
        output.whenFlushed = { output in
            if output.lines.count(where: { $0.hasPrefix("CACHE") }) == 3 { interruption.arrive(15) }
        }
        let words = ["top", "--interval", "0.1", "--root", workspace.root]
        let run = ToolRun(words, on: TypedCacheBackend(), interruption: interruption, output: output)
        #expect(run.status == .signal(15) && output.text.contains("MEM/s"))
    }

    @Test(arguments: ["0", "0.09", "3601", "-1", "nan", "1e1", "", "1s", "inf", "0x1"])
    func intervalsHaveBounds(text: String) {
        let run = ToolRun(["top", "--once", "--interval", text], on: MemoryBackend())
        #expect(run.status == .usage && run.errors.text.contains("0.1 to 3600"))
    }

    @Test func locationsExcludeEachOther() {
        #expect(ToolRun(["top", "--all", "--app", "a"], on: MemoryBackend()).status == .usage)
        #expect(ToolRun(["top", "--all", "--root", "a"], on: MemoryBackend()).status == .usage)
        #expect(ToolRun(["top", "--all", "--once"], on: MemoryBackend()).status == .success)
    }
}
