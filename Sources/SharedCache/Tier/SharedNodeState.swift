import Foundation
import RedisWire

/// One server of a tier, or one master of a cluster, and whether it can be relied on.
public struct SharedNodeState: Sendable, Hashable {
    /// Whether a server can be relied on. New conditions may be added: always keep a `default` when switching.
    public struct Condition: Sendable, Hashable, CustomStringConvertible {
        private enum Base: String, CaseIterable { case connected, slow, unverified, open }

        private let base: Base

        /// It answers, and has told of all changes: memory answers by itself.
        public static let connected = Condition(base: .connected)
        /// As ``connected``, but its answers take so long that fetches with a producer wait longer for them than the soft
        /// timeout says: see ``SharedSettings/Timeouts/soft``. Of one server, not of a cluster's masters.
        public static let slow = Condition(base: .slow)
        /// Changes may have been missed since ``SharedNodeState/unverifiedSince``: each entry in memory is compared
        /// before it is used.
        public static let unverified = Condition(base: .unverified)
        /// It did not answer several times in a row: calls fail at once, until it answers a heartbeat, or the call
        /// that is let through, after ``SharedNodeState/openUntil``. A cluster's master that refuses connections is
        /// ``unverified`` instead; calls for its keys fail at once, too.
        public static let open = Condition(base: .open)

        static let all = Base.allCases.map(Condition.init(base:))

        /// The condition's name: `connected`, `slow`, `unverified` or `open`.
        public var description: String { base.rawValue }
    }

    /// The server's address.
    public let node: String
    /// Whether the server can be relied on.
    public let condition: Condition
    /// The time since which changes may have been missed, where the condition is ``Condition/unverified``; `nil` if the
    /// server was never connected.
    public let unverifiedSince: Date?
    /// The end of the pause, where the condition is ``Condition/open``; `nil` otherwise.
    public let openUntil: Date?

    init(_ node: String, _ condition: Condition, unverifiedSince: Date? = nil, openUntil: Date? = nil) {
        self.node = node
        self.condition = condition
        self.unverifiedSince = unverifiedSince
        self.openUntil = openUntil
    }

    init(_ master: ClusterMaster, _ clocks: SharedClocks) {
        let node = master.endpoint.description
        if let end = master.silentUntil {
            self.init(node, .open, openUntil: clocks.date(of: end))
            return
        }
        switch master.hearing {
        case .heard: self.init(node, .connected)
        case .unheard(let since): self.init(node, .unverified, unverifiedSince: since.map(clocks.date(of:)))
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
