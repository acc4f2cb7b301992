import Foundation

/// How much a cache holds.
package struct CacheStatistics: Sendable, Equatable {
    package let entryCount: Int
    /// Bytes on disk.
    package let byteCount: Int
    /// Entries that have expired and are not yet taken away.
    package let expiredCount: Int
    /// When the oldest entry was stored; `nil` if there is none.
    package let oldest: Date?
    /// When the newest entry was stored; `nil` if there is none.
    package let newest: Date?

    package init(entryCount: Int, byteCount: Int, expiredCount: Int, oldest: Date?, newest: Date?) {
        self.entryCount = entryCount
        self.byteCount = byteCount
        self.expiredCount = expiredCount
        self.oldest = oldest
        self.newest = newest
    }
}
