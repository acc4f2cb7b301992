import Foundation

/// One server of a tier, and whether it can be relied on.
public struct SharedNodeState: Sendable, Hashable {
    public enum Condition: Sendable, Hashable {
        /// It answers, and has told of all changes: memory answers by itself.
        case connected
        /// Changes may have been missed since then, `nil` if it was never connected: each entry in memory is compared
        /// before it is used.
        case unverified(since: Date?)
        /// It did not answer several times in a row: calls fail at once, until it answers a heartbeat after that time.
        case open(until: Date)
    }

    /// The server's address.
    public let node: String
    public let condition: Condition
}
