import Foundation

/// Tells one save from every other one for the same key; means nothing outside the store that gave it.
///
/// A file's number alone would not do, since the next file may get it, and no clock of a file system is fine
/// enough to tell the two apart. So the checksum over content, key and dates belongs to it.
package struct EntryIdentity: Sendable, Hashable {
    private let volume: UInt64
    private let file: UInt64
    private let checksum: UInt32

    package init(volume: UInt64, file: UInt64, checksum: UInt32) {
        self.volume = volume
        self.file = file
        self.checksum = checksum
    }

    /// The identity of the entry with this end, by its serial and its deadline; `nil` if an entry with a serial does not
    /// end so.
    package init?(end: [UInt8]) {
        guard let (serial, expiresAt) = EntryEnd.serial(of: end) else { return nil }
        var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: 0))
        attributes.serial = serial
        if expiresAt != .infinity { attributes.expiresAt = Date(timeIntervalSinceReferenceDate: expiresAt) }
        self.init(attributes)
    }

    /// Of one key's entries that brought their own identities, no two have the same version, but by a chance of 2⁻³² for
    /// each move of a deadline.
    package var version: UInt64 { file &+ UInt64(checksum) &* 0x9E37_79B9_7F4A_7C15 }

    /// Whether this one was given later than another, by a store that counts; for tests.
    func isLater(than other: EntryIdentity?) -> Bool { other.map { file > $0.file } ?? true }

    /// The identity of an entry that brings its own: its serial, and its deadline, which may be moved.
    package init?(_ attributes: EntryAttributes) {
        guard let serial = attributes.serial else { return nil }
        let deadline = attributes.expiresAt?.timeIntervalSinceReferenceDate.bitPattern ?? 0
        self.init(volume: .max, file: serial, checksum: UInt32(truncatingIfNeeded: deadline ^ deadline >> 32))
    }
}
