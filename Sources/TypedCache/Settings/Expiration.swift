import Foundation

/// How long an entry may be used.
public struct Expiration: Sendable, Hashable {
    private enum Kind: Hashable {
        case never
        case after(Duration)
        case at(Date)
    }

    private let kind: Kind

    /// The entry never expires.
    public static let never = Expiration(kind: .never)

    /// The entry expires this long after it was saved; at once, if that is zero or less.
    public static func after(_ duration: Duration) -> Expiration { Expiration(kind: .after(duration)) }

    /// The entry expires at this moment; at once, if that has passed.
    public static func at(_ date: Date) -> Expiration { Expiration(kind: .at(date)) }

    /// The moment of expiry of an entry saved at `now`, in seconds since 2001-01-01 UTC; infinity for never.
    ///
    /// - Throws: `.invalidExpiration` if the date is not a number.
    func deadline(savedAt now: Date) throws(CacheError) -> TimeInterval {
        switch kind {
        case .never: return .infinity
        case .after(let duration): return now.timeIntervalSinceReferenceDate + duration / .seconds(1)
        case .at(let date):
            let deadline = date.timeIntervalSinceReferenceDate
            guard !deadline.isNaN else {
                throw CacheError(.invalidExpiration, "an expiration must be a moment in time")
            }
            return deadline
        }
    }
}
