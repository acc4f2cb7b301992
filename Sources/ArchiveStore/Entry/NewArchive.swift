/// An archive to save together with other ones.
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
