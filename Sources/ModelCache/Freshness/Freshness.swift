import Foundation

/// Whether a model or a list may be used without asking the server.
public struct Freshness: Sendable, Hashable {
    /// Why the server should be asked; `nil`: it is fresh.
    public let staleReason: StaleReason?
    private let moment: Date?

    /// Fresh until a moment, or, with `nil`, for as long as it is not invalidated.
    public static func fresh(until moment: Date?) -> Freshness { Freshness(staleReason: nil, moment: moment) }

    /// Stale since a moment; `nil` if that is unknown.
    public static func stale(since moment: Date?, because reason: StaleReason) -> Freshness {
        Freshness(staleReason: reason, moment: moment)
    }

    /// Whether it may be used.
    public var isFresh: Bool { staleReason == nil }
    /// The moment until which it is fresh; `nil` if it is fresh until it is invalidated, and if it is stale.
    public var freshUntil: Date? { isFresh ? moment : nil }
    /// The moment since which it is stale; `nil` if that is unknown, and while it is fresh.
    public var staleSince: Date? { isFresh ? nil : moment }
}

/// Why a model or a list is stale.
public struct StaleReason: Sendable, Hashable, CustomStringConvertible {
    private enum Base: String { case expired, invalidated, incomplete, otherVariant, holes, cursorRefused }

    private let base: Base

    /// Its freshness has ended.
    public static let expired = StaleReason(base: .expired)
    /// It was invalidated, by itself or with its type, a tag, or the whole account.
    public static let invalidated = StaleReason(base: .invalidated)
    /// A model that is known from lists only, and lacks fields.
    public static let incomplete = StaleReason(base: .incomplete)
    /// It was loaded with other request headers, and the answer depends on them (`Vary`).
    public static let otherVariant = StaleReason(base: .otherVariant)
    /// Elements of a list are not stored any longer.
    public static let holes = StaleReason(base: .holes)
    /// The server refused the cursor of a page of the list.
    public static let cursorRefused = StaleReason(base: .cursorRefused)

    /// The name of the reason, such as `expired`.
    public var description: String { base.rawValue }
}
