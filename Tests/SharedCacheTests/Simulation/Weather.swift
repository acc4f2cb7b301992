/// The faults of a seed, and the pace of its network.
struct Weather {
    enum Kind {
        /// No fault, so that one producer runs for each missing value.
        case calm
        /// Faults of all kinds.
        case mixed
        /// Heartbeats' answers that come late, and messages after them that come later.
        case slow
        /// Masters that are cut off for long, and processes that seldom ask: they find out late that a master is none
        /// any longer.
        case partitioned
    }

    let kind: Kind
    /// Between two faults; `nil` for none.
    let faultPause: Moment?
    /// How long a master is cut off from the other nodes.
    let cutOff: ClosedRange<Moment>
    /// By how much longer the pauses of a process are that changes nothing.
    let readersPause: Moment

    init(seed: Int) {
        kind = [.calm, .mixed, .mixed, .slow, .partitioned][seed % 5]
        switch kind {
        case .calm: faultPause = nil
        case .mixed: faultPause = seed % 3 == 0 ? 150_000 : 45_000
        case .slow: faultPause = 200_000
        case .partitioned: faultPause = 120_000
        }
        cutOff = kind == .partitioned ? 250_000...500_000 : 50_000...350_000
        readersPause = kind == .partitioned ? 20 : 4
    }

    /// A fault's number: see `SimulatedFleet.fail`.
    func fault(_ events: EventQueue) -> Int {
        kind == .partitioned && events.chance(0.6) ? 10 : events.number(below: 16)
    }
}

/// How long the bytes of a connection take.
struct Pace {
    enum Bytes { case commands, answers, messages }

    private let usual: ClosedRange<Moment>
    /// Heartbeats' answers come late, but before the window has ended that the one before has proven; a message after
    /// one may come after the next window. Memory that answered for a window since the answer, and not since the
    /// heartbeat, would miss a change.
    private let isSlow: Bool
    private static let lateAnswer: ClosedRange<Moment> = 6_000...17_000
    private static let lateMessage: ClosedRange<Moment> = 45_000...90_000

    /// - Parameter isChannel: whether the connection has heartbeats and messages of changes.
    init(_ weather: Weather, _ events: EventQueue, isChannel: Bool) {
        // Another mean for each connection.
        let slowest: Moment = events.chance(0.2) ? 25_000 : events.moment(300...4_000)
        isSlow = weather.kind == .slow && isChannel && events.chance(0.5)
        usual = 50...(isSlow ? 1_000 : slowest)
    }

    /// - Parameter isQuiet: whether nothing is late from now on.
    func delay(of bytes: Bytes, _ events: EventQueue, isQuiet: Bool) -> Moment {
        guard isSlow, !isQuiet else { return events.moment(usual) }
        return switch bytes {
        case .answers: events.moment(Self.lateAnswer)
        case .messages where events.chance(0.2): events.moment(Self.lateMessage)
        case .commands, .messages: events.moment(usual)
        }
    }
}
