import ArchiveStore
import Foundation

/// How long an entry may be used.
///
/// Deadlines are moments of the clock's time of day, and are compared with it at each use. When the clock is set
/// forward, entries expire as if the time had passed; when it is set back, none expires early, and entries that were
/// found expired and removed stay gone.
public struct Expiration: Sendable, Hashable {
    private enum Kind: Hashable {
        case never
        case after(Duration)
        case at(Date)
        case afterIdle(Duration)
    }

    private let kind: Kind
    private var staleWhileRevalidate = Duration.zero
    private var staleIfError = Duration.zero

    private init(_ kind: Kind) { self.kind = kind }

    /// Whether the time begins with each save.
    package var countsFromSave: Bool {
        if case .after = kind { true } else { false }
    }

    /// How long an entry may be idle; `nil` if that does not count.
    package var idleTime: Duration? {
        if case .afterIdle(let duration) = kind { duration } else { nil }
    }

    /// The entry never expires.
    public static let never = Expiration(.never)

    /// The entry expires this long after it was saved (at once if that is zero or less). Reading does not extend it.
    ///
    /// ```swift
    /// try cities.save(city, forKey: "rome", expiration: .after(.hours(6)))
    /// ```
    public static func after(_ duration: Duration) -> Expiration { Expiration(.after(duration)) }

    /// The entry expires at this moment (at once if that has passed). Reading does not extend it.
    public static func at(_ date: Date) -> Expiration { Expiration(.at(date)) }

    /// The entry expires when it was neither saved nor fetched for so long (at once if that is zero or less).
    ///
    /// In memory that is exact. On disk, the time of the last reading may be known by an eighth of the duration too
    /// early, so that many readings write little.
    public static func afterIdle(_ duration: Duration) -> Expiration { Expiration(.afterIdle(duration)) }

    /// Returns a copy that lets a loading fetch serve the expired entry for `window` while it reloads in the background
    /// (RFC 5861, stale-while-revalidate). For all other calls the entry is expired.
    public func servingStale(for window: Duration) -> Expiration {
        var copy = self
        copy.staleWhileRevalidate = window
        return copy
    }

    /// Returns a copy that lets a loading fetch serve the expired entry for `window` if its producer fails (RFC 5861,
    /// stale-if-error). For all other calls the entry is expired.
    public func servingStaleOnError(for window: Duration) -> Expiration {
        var copy = self
        copy.staleIfError = window
        return copy
    }

    /// The attributes of an entry that is saved at `now`.
    ///
    /// - Throws: `.invalidExpiration` if the date is not a number.
    func attributes(savedAt now: Date) throws(CacheError) -> EntryAttributes {
        var attributes = EntryAttributes(storedAt: now)
        switch kind {
        case .never: return attributes
        case .after(let duration): attributes.expiresAt = now.addingTimeInterval(duration / .seconds(1))
        case .at(let date):
            guard !date.timeIntervalSinceReferenceDate.isNaN else {
                throw CacheError(.invalidExpiration, "an expiration must be a moment in time")
            }
            attributes.expiresAt = date
        case .afterIdle(let duration):
            let seconds = duration / .seconds(1)
            attributes.expiresAt = now.addingTimeInterval(seconds)
            attributes.idleTime = max(0, seconds)
        }
        // A division of durations takes as long as the rest.
        if staleWhileRevalidate > .zero { attributes.staleWhileRevalidate = staleWhileRevalidate / .seconds(1) }
        if staleIfError > .zero { attributes.staleIfError = staleIfError / .seconds(1) }
        return attributes
    }
}
