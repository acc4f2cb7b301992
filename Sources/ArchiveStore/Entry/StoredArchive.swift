/// An archive as it was saved, and the store's information about its entry.
package final class StoredArchive: Sendable {
    package let archive: [UInt8]
    package let information: EntryInformation
    /// Whether a copy on this machine's disk gave it, in front of a store elsewhere.
    package let isCopy: Bool

    package init(archive: [UInt8], information: EntryInformation, isCopy: Bool = false) {
        self.archive = archive
        self.information = information
        self.isCopy = isCopy
    }
}
