import Foundation

/// One entry of a cache, as a list shows it.
package struct CacheEntry: Sendable, Equatable {
    package let key: String
    package let storedAt: Date
    /// `nil` is never.
    package let expiresAt: Date?
    /// Bytes on disk.
    package let size: Int
    /// Of an entry of the library ModelCache, if it was looked into; `nil` for all others.
    package var model: ModelEntry?

    package init(key: String, storedAt: Date, expiresAt: Date?, size: Int) {
        self.key = key
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.size = size
    }
}
