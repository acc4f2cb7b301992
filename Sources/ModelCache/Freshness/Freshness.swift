import Foundation

/// Whether a model or a list may be used without asking the server.
public enum Freshness: Sendable, Hashable {
    /// It may be used; until a moment, or `nil` for as long as it is not invalidated.
    case fresh(until: Date?)
    /// The server should be asked; `since` is `nil` where no moment can be told.
    case stale(since: Date?, because: StaleReason)

    /// Whether it is fresh.
    public var isFresh: Bool {
        if case .fresh = self { true } else { false }
    }

    /// Whether its time is over, and nothing else is amiss.
    var isExpired: Bool {
        if case .stale(_, .expired) = self { true } else { false }
    }

    var isOtherVariant: Bool {
        if case .stale(_, .otherVariant) = self { true } else { false }
    }
}

/// Why a model or a list is stale.
public struct StaleReason: Sendable, Hashable, CustomStringConvertible {
    private enum Base: String { case expired, invalidated, incomplete, otherVariant, holes, cursorRefused }

    private let base: Base

    /// Its time is over.
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

    public var description: String { base.rawValue }
}
