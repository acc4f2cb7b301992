import ArchiveStore
import Foundation

extension EntryInformation {
    /// Whether the entry has expired by `date`, be it within a stale window or not.
    func isExpired(at date: Date) -> Bool { attributes.freshness(at: date) != .fresh }
}
