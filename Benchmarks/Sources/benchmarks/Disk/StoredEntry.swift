import Foundation

/// Reads the entries of a file store on disk, as docs/format.md describes them.
enum StoredEntry {
    /// The only entry of a cache.
    static func only(in directory: URL) throws -> [UInt8] {
        var only: [UInt8]?
        try forEach(in: directory) { only = $0 }
        guard let only else { throw CocoaError(.fileReadNoSuchFile) }
        return only
    }

    /// Gives each entry of a cache to `body`.
    static func forEach(in directory: URL, _ body: ([UInt8]) throws -> Void) throws {
        guard let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil) else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        for case let file as URL in files where file.pathExtension == "0" {
            try body([UInt8](try Data(contentsOf: file)))
        }
    }

    /// The length of an entry's zlib stream: 8 bytes, 24 before the end.
    static func zlibLength(of entry: [UInt8]) -> Int {
        entry.suffix(24).prefix(8).reduce(0) { $0 << 8 | Int($1) }
    }

    /// An entry's zlib stream, which it begins with.
    static func stream(of entry: [UInt8]) -> [UInt8] { Array(entry.prefix(zlibLength(of: entry))) }

    /// An entry's key, which comes next; its length is 4 bytes, 16 before the end.
    static func key(of entry: [UInt8]) -> String {
        let length = entry.suffix(16).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        return String(decoding: entry.dropFirst(zlibLength(of: entry)).prefix(length), as: UTF8.self)
    }
}
