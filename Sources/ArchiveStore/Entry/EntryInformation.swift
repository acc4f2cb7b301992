import Foundation

/// What a store knows about one entry.
package struct EntryInformation: Sendable, Hashable {
    package let key: String
    package let storedAt: Date
    /// `nil` means never.
    package let expiresAt: Date?
    /// The archive's length before compression.
    package let archiveByteCount: Int
    /// What the entry takes in the store, all told; for a file, its length.
    package let storedByteCount: Int
    package let identity: EntryIdentity

    package init(
        key: String,
        storedAt: Date,
        expiresAt: Date?,
        archiveByteCount: Int,
        storedByteCount: Int,
        identity: EntryIdentity
    ) {
        self.key = key
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.archiveByteCount = archiveByteCount
        self.storedByteCount = storedByteCount
        self.identity = identity
    }
}
