import Foundation
import Testing

@testable import BenchmarkKit

@Suite struct ContextTests {
    private let folders = ScratchFolders()

    private func context() -> Context {
        Context(suite: "sample", isQuick: true, traces: nil, folders: folders, line: ProgressLine())
    }

    @Test func whatIsComparedIsComparedWithOurs() throws {
        let context = context()
        try context.compare(
            work: "wait",
            parameters: ["size": "1"],
            subjects: [
                Subject("peer", limit: 1) { _ in usleep(4_000) },
                Subject("ours", isOurs: true, bytes: 7, limit: 1) { _ in usleep(500) },
            ]
        )
        #expect(context.findings.map(\.subject) == ["peer", "ours"])
        #expect(context.findings.allSatisfy { $0.title == "wait, size 1" && $0.suite == "sample" })
        let figures = context.findings.compactMap { finding -> TimeFigures? in
            if case .time(let figures) = finding.outcome { figures } else { nil }
        }
        #expect(figures.map(\.nanoseconds.samples) == [9, 9])
        #expect(figures[1].ratio == Summary(Array(repeating: 1, count: 9)))
        #expect(figures[1].bytes == 7)
        // Eight times if the machine does nothing else.
        #expect((figures[0].ratio?.p90 ?? 0) > 1.5)
    }

    @Test func everyOperationIsTimed() throws {
        let context = context()
        var count = 0
        try context.latencies(work: "count", operations: 25, subjects: [Subject("ours") { _ in count += 1 }])
        guard case .latency(let latencies) = context.findings[0].outcome else {
            Issue.record("the outcome is no latency")
            return
        }
        #expect(latencies.operations == 25)
        // Two more to warm up.
        #expect(count == 27)
    }

    @Test func foldersAreNewAndGoneInTheEnd() throws {
        let context = context()
        let made = try [context.makeFolder("a"), context.makeFolder("a"), context.makeFolder("a", inMemory: true)]
        #expect(Set(made).count == 3)
        #expect(made.allSatisfy { FileManager.default.fileExists(atPath: $0.path) })
        folders.removeAll()
        #expect(made.allSatisfy { !FileManager.default.fileExists(atPath: $0.path) })
    }
}
