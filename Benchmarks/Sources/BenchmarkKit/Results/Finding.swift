/// The outcome of one subject at one piece of work.
package struct Finding: Codable, Equatable, Sendable {
    package let suite: String
    package let work: String
    /// The parameters of the work, by name, such as `entries: 1000`.
    package let parameters: [String: String]
    package let subject: String
    package let isOurs: Bool
    package let outcome: Outcome

    package init(
        suite: String,
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        isOurs: Bool = false,
        outcome: Outcome
    ) {
        self.suite = suite
        self.work = work
        self.parameters = parameters
        self.subject = subject
        self.isOurs = isOurs
        self.outcome = outcome
    }

    /// The work with its parameters, as tables and gates call it: `save an archive, size 1 KiB`.
    package var title: String {
        let details = parameters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return ([work] + details).joined(separator: ", ")
    }

    /// The fields that tell this from every other finding of a run.
    var identity: FindingIdentity {
        FindingIdentity(suite: suite, title: title, subject: subject, unit: outcome.unit)
    }
}

/// The fields that two runs' findings of the same thing have in common.
struct FindingIdentity: Hashable {
    let suite: String
    let title: String
    let subject: String
    let unit: String
}

/// The figures of a finding, or why there are none.
package enum Outcome: Codable, Equatable, Sendable {
    /// How long doing the work once takes.
    case time(TimeFigures)
    /// How long operations take that were timed one by one.
    case latency(LatencySummary)
    /// A figure of any other kind.
    case value(ValueFigures)
    /// Nothing, since the subject is not here or cannot do this.
    case unavailable(reason: String)

    var isUnavailable: Bool {
        if case .unavailable = self { true } else { false }
    }

    var isTime: Bool {
        if case .time = self { true } else { false }
    }

    /// Tells kinds of figures about the same work apart.
    var unit: String {
        switch self {
        case .time: "ns"
        case .latency: "latency"
        case .value(let figures): figures.unit
        case .unavailable: ""
        }
    }
}

/// How long doing a piece of work once takes, and its other costs.
package struct TimeFigures: Codable, Equatable, Sendable {
    /// Nanoseconds.
    package let nanoseconds: Summary
    /// The time as a multiple of ours, sample by sample; `nil` where ours is not among the subjects.
    package let ratio: Summary?
    /// How often memory is allocated; `nil` where that cannot be told.
    package let allocations: Double?
    /// The size of the work's result, if that says something.
    package let bytes: Int?

    package init(nanoseconds: Summary, ratio: Summary? = nil, allocations: Double? = nil, bytes: Int? = nil) {
        self.nanoseconds = nanoseconds
        self.ratio = ratio
        self.allocations = allocations
        self.bytes = bytes
    }
}

/// A figure that is no time: a hit ratio, a size, a rate.
package struct ValueFigures: Codable, Equatable, Sendable {
    package let summary: Summary
    package let unit: String
    package let better: Direction

    package init(_ samples: [Double], unit: String, better: Direction) {
        summary = Summary(samples)
        self.unit = unit
        self.better = better
    }
}

/// Which figures are the better ones.
package enum Direction: String, Codable, Sendable {
    case lower, higher
}
