import BenchmarkKit

/// How long an object takes as objects become many.
struct GrowthRun {
    /// Each sample handles at least this many.
    private static let objectsPerSample = 50_000
    private static let sampleCount = 5

    private let context: Context
    private let work: String
    private let subject: String

    /// - Parameters:
    ///   - work: the work on the objects, as a verb.
    ///   - subject: the type that does the work.
    init(_ context: Context, work: String, subject: String) {
        self.context = context
        self.work = work
        self.subject = subject
    }

    /// - Parameter prepare: called once for each number of objects; returns the closure that is timed, which returns
    ///   how many objects it saw.
    /// - Throws: the errors of either closure, or an error if objects are missing.
    func measure(_ prepare: ([EncodableVisit]) throws -> () throws -> Int) throws {
        let counts = [1_000, 10_000, 100_000] + (context.isQuick ? [] : [1_000_000])
        let bodies = try counts.map { count in
            context.progress("\(work) \(count) objects")
            return try prepare((0..<count).map { EncodableVisit(Visit.make($0)) })
        }
        // In turns, so that other load on the machine meets all of them.
        var samples = counts.map { _ in [Double]() }
        for _ in 0..<Self.sampleCount {
            for (index, count) in counts.enumerated() {
                samples[index].append(try nanosecondsPerObject(count, bodies[index]))
            }
        }
        for (count, samples) in zip(counts, samples) {
            context.value(
                work: "\(work) objects",
                parameters: ["objects": "\(count)"],
                subject: subject,
                isOurs: true,
                unit: "ns an object",
                samples: samples
            )
        }
        context.value(
            work: "\(work) an object of the most, to one of 10,000",
            subject: subject,
            isOurs: true,
            unit: "×",
            // Not to the smallest: its memory is used again and fits in the processor's caches.
            samples: zip(samples[counts.count - 1], samples[1]).map { $0 / $1 }
        )
    }

    private func nanosecondsPerObject(_ count: Int, _ body: () throws -> Int) throws -> Double {
        let repetitions = max(1, Self.objectsPerSample / count)
        let duration = try ContinuousClock().measure {
            for _ in 0..<repetitions {
                guard try body() == count else { throw BenchmarkError("objects are missing") }
            }
        }
        return duration / .nanoseconds(1) / Double(count * repetitions)
    }
}
