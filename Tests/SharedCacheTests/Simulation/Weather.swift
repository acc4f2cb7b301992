/// The faults of a seed, and the pace of its network.
struct Weather {
    enum Kind {
        /// No fault, so that one producer runs for each missing value.
        case calm
        /// Faults of all kinds.
        case mixed
        /// Heartbeats' answers that come late, and messages behind them that come later.
        case slow
        /// Masters that are cut off for long, and processes that seldom ask: they find out late that a master is none
        /// any more.
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
    private let usual: ClosedRange<Moment>
    /// How often bytes take long.
    private let lateShare: Double
    /// An answer may come long after its heartbeat, and the messages behind it later by a window: memory that answered
    /// since the answer, and not since the heartbeat, would have missed changes.
    private static let late: ClosedRange<Moment> = 15_000...100_000

    /// - Parameter isChannel: whether the connection has heartbeats and messages of changes.
    init(_ weather: Weather, _ events: EventQueue, isChannel: Bool) {
        // Another mean for each connection.
        let slowest: Moment = events.chance(0.2) ? 25_000 : events.moment(300...4_000)
        usual = 50...slowest
        lateShare = weather.kind == .slow && isChannel && events.chance(0.25) ? 0.6 : 0
    }

    /// - Parameter isQuiet: whether nothing is late any more.
    func delay(_ events: EventQueue, isQuiet: Bool) -> Moment {
        events.moment(lateShare > 0 && !isQuiet && events.chance(lateShare) ? Self.late : usual)
    }
}
