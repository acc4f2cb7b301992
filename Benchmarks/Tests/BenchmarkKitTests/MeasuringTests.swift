import Foundation
import Testing

@testable import BenchmarkKit

@Suite struct SamplerTests {
    @Test func everyIndexComesOnceAndInOrder() throws {
        var seen: [Int] = []
        var sampler = Sampler(Subject("counting") { index in seen.append(index) })
        try sampler.calibrate(for: .microseconds(50))
        for _ in 0..<3 { try sampler.sample() }
        _ = try sampler.latencies(5)
        #expect(sampler.samples.count == 3)
        #expect(seen.count > 8)
        #expect(seen == Array(seen.indices))
    }

    @Test func preparationAndCleanupFrameEachSampleOfAtMostTheLimit() throws {
        var events: [String] = []
        let subject = Subject.batch(
            "framed",
            limit: 4,
            prepare: { events.append("prepare \($0.count)") },
            cleanup: { events.append("cleanup") },
            perform: { events.append("perform \($0.count)") }
        )
        var sampler = Sampler(subject)
        try sampler.calibrate(for: .seconds(1))
        events = []
        try sampler.sample()
        #expect(events == ["prepare 4", "perform 4", "cleanup"])
    }

    @Test func timeOfOtherWorkIsSubtracted() throws {
        var time = 0.0
        let subject = Subject.difference("difference", of: { _ in time += 600 }, besides: { _ in time += 400 })
        var sampler = Sampler(subject) { time }
        try sampler.calibrate(for: .microseconds(5))
        for _ in 0..<3 { try sampler.sample() }
        #expect(sampler.samples == [200, 200, 200])
    }

    @Test func samplesLastLongEnoughAndNotMuchLonger() throws {
        var time = 0.0
        var sampler = Sampler(Subject("slow") { _ in time += 300 }) { time }
        try sampler.calibrate(for: .microseconds(30))
        let start = time
        try sampler.sample()
        #expect((30_000...60_000).contains(time - start))
        #expect(sampler.samples == [300])
    }

    @Test func workThatTakesNoTimeIsNotRepeatedForEver() throws {
        var most = 0
        var sampler = Sampler(Subject.batch("nothing") { most = max(most, $0.count) }) { 0 }
        try sampler.calibrate(for: .milliseconds(5))
        #expect(most <= 1 << 30)
    }

    @Test func allocationsAreCountedPerOperation() throws {
        var sampler = Sampler(
            Subject("allocating") { index in
                (UnsafeMutableRawPointer.allocate(byteCount: 40 + index % 2, alignment: 1)).deallocate()
            }
        )
        try sampler.calibrate(for: .microseconds(50))
        guard let allocations = try sampler.allocations() else { return }
        // Other tests allocate in the meantime.
        #expect(allocations >= 1)
    }
}

@Suite struct ContextTests {
    private let folders = ScratchFolders()

    private func context() -> Context {
        Context(suite: "sample", extent: .quick, traces: nil, folders: folders, line: ProgressLine())
    }

    @Test func ratiosAreToOurs() throws {
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
