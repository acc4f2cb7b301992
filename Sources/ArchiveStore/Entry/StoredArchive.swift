/// An archive as it was saved, and the store's information about its entry.
package struct StoredArchive: Sendable {
    package let archive: [UInt8]
    package let information: EntryInformation

    package init(archive: [UInt8], information: EntryInformation) {
        self.archive = archive
        self.information = information
    }
}
