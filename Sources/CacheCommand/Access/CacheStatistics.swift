import Foundation

/// How much a cache holds.
package struct CacheStatistics: Sendable, Equatable {
    /// Entries that have not expired.
    package var entryCount = 0
    /// Bytes on disk, expired entries included.
    package var byteCount = 0
    /// Bytes of the archives before compression.
    package var archiveByteCount = 0
    /// Expired entries that are not yet removed.
    package var expiredCount = 0
    /// Entries with damaged bytes that are not yet removed.
    package var damagedCount = 0
    /// When the oldest entry was stored; `nil` if there is none.
    package var oldest: Date?
    /// When the newest entry was stored; `nil` if there is none.
    package var newest: Date?
}
