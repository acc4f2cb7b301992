import Foundation

/// A store's information about one entry, without its archive.
package struct EntryInformation: Sendable, Hashable {
    package let key: String
    package let attributes: EntryAttributes
    /// The archive's length before compression.
    package let archiveByteCount: Int
    /// The bytes that the entry takes in the store, all told; for a file, its length.
    package let storedByteCount: Int
    package let identity: EntryIdentity

    package var storedAt: Date { attributes.storedAt }
    /// `nil` means never.
    package var expiresAt: Date? { attributes.expiresAt }

    package init(
        key: String,
        attributes: EntryAttributes,
        archiveByteCount: Int,
        storedByteCount: Int,
        identity: EntryIdentity
    ) {
        self.key = key
        self.attributes = attributes
        self.archiveByteCount = archiveByteCount
        self.storedByteCount = storedByteCount
        self.identity = identity
    }

    /// The same with another deadline.
    package func expiring(at date: Date?) -> EntryInformation {
        var attributes = attributes
        attributes.expiresAt = date
        return EntryInformation(
            key: key,
            attributes: attributes,
            archiveByteCount: archiveByteCount,
            storedByteCount: storedByteCount,
            identity: identity
        )
    }

    /// Whether this and another entry come from one save, even if the deadline was moved since: certain where entries have
    /// serials, else two saves of one length may have the same time.
    package func isSave(of other: EntryInformation) -> Bool {
        var attributes = attributes
        attributes.expiresAt = other.expiresAt
        return attributes == other.attributes && archiveByteCount == other.archiveByteCount
    }

    /// Equal for the entries of one save, as ``isSave(of:)`` is; for two saves by a chance of 2⁻⁶⁴. Of this process only;
    /// never 0.
    package var saveHash: Int {
        var attributes = attributes
        attributes.expiresAt = nil
        var hasher = Hasher()
        hasher.combine(attributes)
        hasher.combine(archiveByteCount)
        let hash = hasher.finalize()
        return hash == 0 ? 1 : hash
    }
}
