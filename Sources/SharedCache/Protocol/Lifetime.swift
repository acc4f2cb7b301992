import ArchiveStore
import Foundation

/// How long the engine keeps an entry by itself.
struct Lifetime: Equatable {
    /// `nil`: until it is removed.
    let milliseconds: Int?

    /// As long as the entry can be of use, but at least a minute: a reader that finds a useless entry removes it and
    /// says so.
    init(_ attributes: EntryAttributes, now: Date) {
        guard let end = attributes.usableUntil else {
            milliseconds = nil
            return
        }
        // The cache's clock may be another one than the system's, but is the one that `storedAt` is of.
        let seconds = max(end.timeIntervalSince(attributes.storedAt), end.timeIntervalSince(now), 60)
        // A hundred years are for ever.
        milliseconds = seconds < 3.2e9 ? Int((seconds * 1_000).rounded(.up)) : nil
    }
}
