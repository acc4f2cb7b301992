/// An entry in a list, or why it cannot be read; with its archive, where reading that took no more work.
package struct ListedEntry: Sendable {
    package let information: Result<EntryInformation, StoreError>
    /// `nil` where the archive is large, or could not be read: `peek` reads it then, or tells why not.
    package let archive: [UInt8]?

    package init(_ information: Result<EntryInformation, StoreError>, archive: [UInt8]? = nil) {
        self.information = information
        self.archive = archive
    }
}
