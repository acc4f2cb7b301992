import Foundation

/// Reads what a file store has on disk, as docs/format.md describes it.
enum StoredEntry {
    /// The only entry of a cache.
    static func only(in directory: URL) throws -> [UInt8] {
        guard let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil) else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        for case let file as URL in files where file.pathExtension == "0" {
            return [UInt8](try Data(contentsOf: file))
        }
        throw CocoaError(.fileReadNoSuchFile)
    }

    /// The length of an entry's zlib stream: 8 bytes, 24 before the end.
    static func zlibLength(of entry: [UInt8]) -> Int {
        entry.suffix(24).prefix(8).reduce(0) { $0 << 8 | Int($1) }
    }
}
