import ArchiveStore
import Foundation

extension EntryInformation {
    /// Whether the entry has expired by `date`, be it within a stale window or not.
    func isExpired(at date: Date) -> Bool { expiresAt.map { $0 <= date } ?? false }
}
