import ArchiveStore
import Foundation

/// An entry, without its value.
public struct CacheEntry: Sendable, Hashable {
    /// The key that it was saved for.
    public let key: String
    /// When it was saved.
    public let storedAt: Date
    /// When it expires; `nil` means never. For an idle expiration that may lag behind its last reading.
    public let expiresAt: Date?
    /// The bytes that the entry takes on disk.
    public let size: ByteCount
    /// The archive's bytes before compression.
    public let archiveSize: ByteCount
    /// The groups that it belongs to.
    public let tags: Set<String>

    /// Makes an entry as ``Cache/entry(forKey:)`` returns it: for tests, and for types that replace a cache.
    public init(
        key: String,
        storedAt: Date,
        expiresAt: Date? = nil,
        size: ByteCount = .zero,
        archiveSize: ByteCount = .zero,
        tags: Set<String> = []
    ) {
        self.key = key
        self.storedAt = storedAt
        self.expiresAt = expiresAt
        self.size = size
        self.archiveSize = archiveSize
        self.tags = tags
    }

    init(_ entry: EntryInformation) {
        key = entry.key
        storedAt = entry.storedAt
        expiresAt = entry.expiresAt
        size = .bytes(entry.storedByteCount)
        archiveSize = .bytes(entry.archiveByteCount)
        tags = Set(entry.attributes.tags)
    }
}
