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
