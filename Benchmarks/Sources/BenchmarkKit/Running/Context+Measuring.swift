extension Context {
    /// Measures several ways to do the same work, in turns, so that other load on the machine meets all of them, and
    /// compares each, pair by pair, with the first that is ours.
    ///
    /// - Parameters:
    ///   - work: the name of the work, as a verb with its object.
    ///   - parameters: the parameters of the work, by name; numbers may have a unit (`1 KiB`). Works that differ in one
    ///     number only are drawn as lines over it.
    /// - Throws: the errors of a subject.
    package func compare(work: String, parameters: [String: String] = [:], subjects: [Subject]) throws {
        progress(work)
        var samplers = subjects.map { Sampler($0) }
        for index in samplers.indices { try samplers[index].calibrate(for: effort.sampleDuration) }
        for round in 0..<effort.rounds {
            for turn in samplers.indices {
                // Another one begins each round: none always follows the same one.
                try samplers[(round + turn) % samplers.count].sample()
            }
        }
        let ours = samplers.first { $0.subject.isOurs }?.samples
        for index in samplers.indices {
            let allocations = try samplers[index].allocations()
            let subject = samplers[index].subject
            let samples = samplers[index].samples
            let figures = TimeFigures(
                nanoseconds: Summary(samples),
                ratio: ours.map { Summary(ratiosOf: samples, to: $0) },
                allocations: allocations,
                bytes: subject.bytes
            )
            record(
                work: work,
                parameters: parameters,
                subject: subject.name,
                isOurs: subject.isOurs,
                outcome: .time(figures)
            )
        }
    }

    /// Times operations one by one: a mean hides the time of the slowest ones. The clock's own cost, some tens of
    /// nanoseconds, is in each.
    ///
    /// - Parameter operations: how many of each subject, after as many as a tenth of them to warm up.
    /// - Throws: the errors of a subject.
    package func latencies(
        work: String,
        parameters: [String: String] = [:],
        operations: Int,
        subjects: [Subject]
    ) throws {
        progress(work)
        var samplers = subjects.map { Sampler($0) }
        var latencies = [[Double]](repeating: [], count: samplers.count)
        for index in samplers.indices { _ = try samplers[index].latencies(max(1, operations / 10)) }
        let rounds = min(10, operations)
        for round in 0..<rounds {
            let count = operations * (round + 1) / rounds - operations * round / rounds
            for index in samplers.indices { latencies[index] += try samplers[index].latencies(count) }
        }
        for (sampler, latencies) in zip(samplers, latencies) {
            record(
                work: work,
                parameters: parameters,
                subject: sampler.subject.name,
                isOurs: sampler.subject.isOurs,
                outcome: .latency(LatencySummary(latencies))
            )
        }
    }

    /// Records a figure that the suite found out itself.
    ///
    /// - Parameter samples: at least one.
    package func value(
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        isOurs: Bool = false,
        unit: String,
        better: Direction = .lower,
        samples: [Double]
    ) {
        record(
            work: work,
            parameters: parameters,
            subject: subject,
            isOurs: isOurs,
            outcome: .value(ValueFigures(samples, unit: unit, better: better))
        )
    }

    /// Records that a subject could not be measured, so that its row says why.
    package func unavailable(
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        reason: String
    ) {
        record(work: work, parameters: parameters, subject: subject, outcome: .unavailable(reason: reason))
    }
}
