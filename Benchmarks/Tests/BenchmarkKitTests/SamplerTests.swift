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

    @Test func whatIsDoneBesidesIsTakenOff() throws {
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
        // Other tests allocate meanwhile.
        #expect(allocations >= 1)
    }
}
