import Foundation
import RedisWire

/// One server of a tier, or one master of a cluster, and whether it can be relied on.
public struct SharedNodeState: Sendable, Hashable {
    /// Whether a server can be relied on.
    public enum Condition: Sendable, Hashable {
        /// It answers, and has told of all changes: memory answers by itself.
        case connected
        /// As ``connected``, but its answers take so long that fetches with a producer wait longer for them than the soft
        /// timeout says: see ``SharedSettings/Timeouts/soft``. Of one server, not of a cluster's masters.
        case slow
        /// Changes may have been missed since then, `nil` if it was never connected: each entry in memory is compared
        /// before it is used.
        case unverified(since: Date?)
        /// It did not answer several times in a row: calls fail at once, until it answers a heartbeat, or the call
        /// that is let through, after that time. A cluster's master that refuses connections is `unverified` instead;
        /// calls for its keys fail at once, too.
        case open(until: Date)
    }

    /// The server's address.
    public let node: String
    /// Whether the server can be relied on.
    public let condition: Condition
}

extension SharedNodeState.Condition {
    static let names = ["connected", "slow", "unverified", "open"]

    /// For metrics.
    var name: String {
        switch self {
        case .connected: Self.names[0]
        case .slow: Self.names[1]
        case .unverified: Self.names[2]
        case .open: Self.names[3]
        }
    }
}

extension SharedNodeState {
    init(_ master: ClusterMaster, _ clocks: SharedClocks) {
        node = master.endpoint.description
        condition =
            if let end = master.silentUntil {
                .open(until: clocks.date(of: end))
            } else {
                switch master.hearing {
                case .heard: .connected
                case .unheard(let since): .unverified(since: since.map(clocks.date(of:)))
                }
            }
    }
}

/// Gives instants as dates, one and the same instant always as the same date.
struct SharedClocks: Sendable {
    private let date = Date.now
    private let instant = ContinuousClock.now

    func date(of other: ContinuousClock.Instant) -> Date {
        date.addingTimeInterval(instant.duration(to: other) / .seconds(1))
    }
}
