import ArchiveStore
import Foundation

/// Reads a file that may hold an entry, for tools.
package enum CacheEntryFile {
    /// The archive in an entry's file; `nil` if the bytes are not an entry.
    ///
    /// - Throws: `.corrupted` if it is a damaged entry, `.unsupportedVersion` if a newer version wrote it.
    package static func archive(in data: Data, path: String) throws(CacheError) -> Data? {
        guard EntryReader.isEntry(Array(data.prefix(2))) else { return nil }
        do throws(StoreError) {
            return Data(try EntryReader.archive(in: Array(data), path: path))
        } catch {
            throw CacheError(error)
        }
    }
}
