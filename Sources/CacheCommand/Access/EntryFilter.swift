import ArchiveStore
import Foundation

/// The entries that a command selects: they match all of its options.
struct EntryFilter: Sendable {
    /// The beginning of the key, byte by byte.
    var prefix: String?
    var pattern: GlobPattern?
    var tag: String?
    /// How long ago the entry was stored at least.
    var minimumAge: Duration?
    /// How many bytes the entry takes on disk at least, one of them excluded.
    var lowerSize: Int?
    /// Whether it is about entries that have expired, and not about the others.
    var isExpired = false

    func matches(_ entry: EntryInformation, at date: Date) -> Bool {
        if entry.isExpired(at: date) != isExpired { return false }
        if let prefix, !entry.key.utf8.starts(with: prefix.utf8) { return false }
        if let lowerSize, entry.storedByteCount <= lowerSize { return false }
        if let minimumAge, date.timeIntervalSince(entry.storedAt) < minimumAge / .seconds(1) { return false }
        if let tag, !entry.attributes.tags.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) { return false }
        if let pattern, !pattern.matches(entry.key) { return false }
        return true
    }
}
