/// Measures one subject, sample by sample, each time with new indices.
struct Sampler {
    let subject: Subject
    private(set) var samples: [Double] = []
    private var iterations = 1
    private var nextIndex = 0

    init(_ subject: Subject) {
        self.subject = subject
    }

    /// Finds how often the work must be repeated for a sample of that duration. That warms up everything as well.
    mutating func calibrate(for duration: Duration) throws {
        let wanted = duration / .nanoseconds(1)
        iterations = 1
        // Once for what only the first time costs, which would make the count too low.
        _ = try run()
        while iterations < subject.limit {
            let taken = try run()
            if taken >= wanted { return }
            // Close to the aim, go there at once; a short sample tells too little to extrapolate from.
            let factor = taken * 8 > wanted ? wanted / taken * 1.1 : 4
            iterations = min(subject.limit, max(iterations + 1, Int(Double(iterations) * factor)))
        }
    }

    /// Takes a sample: nanoseconds for doing the work once.
    mutating func sample() throws {
        samples.append(try run() / Double(iterations))
    }

    /// How often the work allocates, in a pass of its own that is not timed; `nil` where that cannot be told.
    mutating func allocations() throws -> Double? {
        let count = min(iterations, 1_000)
        let indices = takeIndices(count)
        try subject.prepare?(indices)
        let allocations = try AllocationCounter.count { try subject.perform(indices) }
        try subject.cleanup?()
        return allocations.map { Double($0) / Double(count) }
    }

    /// Nanoseconds of each of so many operations.
    mutating func latencies(_ count: Int) throws -> [Double] {
        let indices = takeIndices(count)
        try subject.prepare?(indices)
        var latencies: [Double] = []
        latencies.reserveCapacity(count)
        for index in indices {
            latencies.append(try Self.nanoseconds { try subject.perform(index..<index + 1) })
        }
        try subject.cleanup?()
        return latencies
    }

    private mutating func run() throws -> Double {
        let indices = takeIndices(iterations)
        try subject.prepare?(indices)
        let taken = try Self.nanoseconds { try subject.perform(indices) }
        try subject.cleanup?()
        return taken
    }

    private mutating func takeIndices(_ count: Int) -> Range<Int> {
        defer { nextIndex += count }
        return nextIndex..<nextIndex + count
    }

    private static func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
        try ContinuousClock().measure(body) / .nanoseconds(1)
    }
}
