/// An archive that is to be saved among others.
package struct NewArchive: Sendable {
    package let key: String
    package let archive: [UInt8]
    package let attributes: EntryAttributes

    package init(key: String, archive: [UInt8], attributes: EntryAttributes) {
        self.key = key
        self.archive = archive
        self.attributes = attributes
    }
}
