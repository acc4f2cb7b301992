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

    /// The entry never expires.
    public static let never = Expiration(.never)

    /// The entry expires this long after it was saved (at once if that is zero or less). Reading does not extend it.
    public static func after(_ duration: Duration) -> Expiration { Expiration(.after(duration)) }

    /// The entry expires `seconds` after it was saved (at once if that is zero or less). Reading does not extend it.
    public static func after(seconds: Int) -> Expiration { .after(.seconds(seconds)) }

    /// The entry expires `minutes` after it was saved (at once if that is zero or less). Reading does not extend it.
    public static func after(minutes: Int) -> Expiration { .after(duration(of: minutes, times: 60)) }

    /// The entry expires `hours` after it was saved (at once if that is zero or less). Reading does not extend it.
    public static func after(hours: Int) -> Expiration { .after(duration(of: hours, times: 3_600)) }

    /// The entry expires `days` of 24 hours after it was saved (at once if that is zero or less). Reading does not extend
    /// it.
    public static func after(days: Int) -> Expiration { .after(duration(of: days, times: 86_400)) }

    /// The entry expires at this moment (at once if that has passed). Reading does not extend it.
    public static func at(_ date: Date) -> Expiration { Expiration(.at(date)) }

    /// The entry expires when it was neither saved nor fetched for so long (at once if that is zero or less).
    ///
    /// In memory that is exact. On disk, the time of the last reading may be known by an eighth of the duration too
    /// early, so that many readings write little.
    public static func afterIdle(_ duration: Duration) -> Expiration { Expiration(.afterIdle(duration)) }

    /// The entry expires when it was neither saved nor fetched for `seconds`; as ``afterIdle(_:)``.
    public static func afterIdle(seconds: Int) -> Expiration { .afterIdle(.seconds(seconds)) }

    /// The entry expires when it was neither saved nor fetched for `minutes`; as ``afterIdle(_:)``.
    public static func afterIdle(minutes: Int) -> Expiration { .afterIdle(duration(of: minutes, times: 60)) }

    /// The entry expires when it was neither saved nor fetched for `hours`; as ``afterIdle(_:)``.
    public static func afterIdle(hours: Int) -> Expiration { .afterIdle(duration(of: hours, times: 3_600)) }

    /// The entry expires when it was neither saved nor fetched for `days` of 24 hours; as ``afterIdle(_:)``.
    public static func afterIdle(days: Int) -> Expiration { .afterIdle(duration(of: days, times: 86_400)) }

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

/// So many units of some seconds each; a duration that is too long to be counted is as long as can be.
///
/// No member named `seconds` of ``Expiration``: the compiler would take `expiration: .seconds(60)` for a call of it.
private func duration(of count: Int, times unit: Int) -> Duration {
    let (seconds, overflow) = count.multipliedReportingOverflow(by: unit)
    return .seconds(overflow ? (count < 0 ? .min : .max) : seconds)
}
