import CMeasuring

/// Measures one subject, sample by sample, each time with new indices.
struct Sampler {
    let subject: Subject
    private(set) var samples: [Double] = []
    /// The processor time of each sample: nanoseconds of all threads for doing the work once.
    private(set) var processorSamples: [Double] = []
    private var iterations = 1
    private var nextIndex = 0
    private let now: () -> Double

    /// - Parameter now: a clock that counts nanoseconds.
    init(_ subject: Subject, now: @escaping () -> Double = MonotonicTime.nanoseconds) {
        self.subject = subject
        self.now = now
    }

    /// Only work that takes no time at all would need more repetitions.
    private static let mostIterations = 1 << 30

    /// Finds how often the work must be repeated for a sample of that duration. That warms up everything as well.
    mutating func calibrate(for duration: Duration) throws {
        let wanted = duration / .nanoseconds(1)
        let limit = min(subject.limit, Self.mostIterations)
        iterations = 1
        // One run for the costs of the first time only, which would make the count too low.
        _ = try run()
        while iterations < limit {
            let taken = try run().whole
            if taken >= wanted { return }
            // Close to the aim, go there at once; a short sample tells too little to extrapolate from.
            let factor = taken * 8 > wanted ? wanted / taken * 1.1 : 4
            iterations = min(limit, max(iterations + 1, Int(Double(iterations) * factor)))
        }
    }

    /// Takes a sample: nanoseconds for doing the work once.
    mutating func sample() throws {
        let taken = try run()
        samples.append((taken.whole - taken.besides) / Double(iterations))
        processorSamples.append(taken.processor / Double(iterations))
    }

    /// How often the work allocates, in a pass of its own that is not timed; `nil` where that cannot be told.
    mutating func allocations() throws -> Double? {
        let count = min(iterations, 1_000)
        let indices = takeIndices(count)
        try subject.prepare?(indices)
        let allocations = try AllocationCounter.count { try subject.perform(indices) }
        let besides = try AllocationCounter.count { try subject.besides?(indices) }
        try subject.cleanup?()
        return allocations.map { Double($0 - (besides ?? 0)) / Double(count) }
    }

    /// Nanoseconds of each of so many operations.
    mutating func latencies(_ count: Int) throws -> [Double] {
        let indices = takeIndices(count)
        try subject.prepare?(indices)
        var latencies: [Double] = []
        latencies.reserveCapacity(count)
        for index in indices {
            latencies.append(try nanoseconds { try subject.perform(index..<index + 1) })
        }
        try subject.cleanup?()
        return latencies
    }

    /// Nanoseconds of a sample, and of the other work, which is to be taken off; the sample's processor time, less that
    /// of the other work.
    private mutating func run() throws -> (whole: Double, besides: Double, processor: Double) {
        let indices = takeIndices(iterations)
        try subject.prepare?(indices)
        let start = MonotonicTime.processorNanoseconds()
        let taken = try nanoseconds { try subject.perform(indices) }
        let end = MonotonicTime.processorNanoseconds()
        let besides = try subject.besides.map { body in try nanoseconds { try body(indices) } }
        let other = subject.besides == nil ? 0 : MonotonicTime.processorNanoseconds() - end
        try subject.cleanup?()
        return (taken, besides ?? 0, end - start - other)
    }

    private mutating func takeIndices(_ count: Int) -> Range<Int> {
        defer { nextIndex += count }
        return nextIndex..<nextIndex + count
    }

    private func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return now() - start
    }
}

/// How much of the suites a run does.
package enum Extent: Sendable {
    /// Everything, as often as trustworthy figures need.
    case full
    /// The smaller sizes only, with rough figures.
    case quick
    /// As `quick`, each work about once: shows that it runs, and measures nothing.
    case once

    var effort: Effort {
        switch self {
        case .full: Effort(sampleDuration: .milliseconds(30), rounds: 15)
        case .quick: Effort(sampleDuration: .milliseconds(5), rounds: 9)
        case .once: Effort(sampleDuration: .zero, rounds: 1)
        }
    }
}

/// How long and how often to measure.
struct Effort {
    /// The least time that one sample takes, so that the clock's own cost does not show.
    let sampleDuration: Duration
    /// How many samples are taken of each subject.
    let rounds: Int
}

/// Counts the allocations of the whole process while something runs. Not for timing: counting takes time.
enum AllocationCounter {
    /// How often memory was allocated, or `nil` where that cannot be told.
    static func count(_ body: () throws -> Void) rethrows -> Int? {
        guard allocations_are_countable() else { return nil }
        allocations_start_counting()
        defer { _ = allocations_stop_counting() }
        try body()
        return Int(allocations_stop_counting())
    }
}
