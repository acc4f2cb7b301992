import ArchiveStore

extension EntryInformation {
    /// The information of an entry that a disk has refused.
    static func refused(_ key: String) -> EntryInformation {
        EntryInformation(
            key: key,
            attributes: EntryAttributes(storedAt: .distantPast),
            archiveByteCount: 1,
            storedByteCount: 1,
            identity: EntryIdentity(volume: 0, file: 0, checksum: 0)
        )
    }
}
