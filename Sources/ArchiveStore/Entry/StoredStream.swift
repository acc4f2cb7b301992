/// An archive that was fetched as it is kept, compressed, and the store's information about its entry.
package struct StoredStream: Sendable {
    /// A zlib stream; one that was made with a preset dictionary needs that again.
    package let stream: ArraySlice<UInt8>
    package let information: EntryInformation
}
