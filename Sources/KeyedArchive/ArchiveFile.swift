import Foundation

/// Reads and writes the files of archives. Blocks on disk I/O.
package enum ArchiveFile {
    /// - Throws: `.io` with the cause if the file cannot be read.
    package static func read(_ path: String) throws(ArchiveError) -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ArchiveError(.io, "the archive could not be read", cause: error)
        }
    }

    /// Replaces the file as a whole or not at all.
    ///
    /// - Throws: `.io` with the cause if the file cannot be written.
    package static func write(_ data: Data, to path: String) throws(ArchiveError) {
        do {
            try data.write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw ArchiveError(.io, "the archive could not be written", cause: error)
        }
    }
}
