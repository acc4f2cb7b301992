import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

extension TestDirectory {
    /// The store with the entries of the cache with this name.
    func store(_ name: String) throws -> any ArchiveStore {
        let path = url.appending(path: name).path
        return switch StoreKind(directory: path) {
        case .packed: try PackedStore(directory: path, create: true)
        case .file, nil: try FileStore(directory: path, create: true)
        }
    }

    /// How many entries there are on disk, damaged ones included.
    func entryCount(_ name: String) throws -> Int {
        var count = 0
        try store(name).forEachEntry { _ in
            count += 1
            return true
        }
        return count
    }

    /// Where the entry lies that was saved last in a cache of few entries: its file, and its bytes in that.
    func lastEntry(_ name: String) throws -> (file: URL, bytes: Range<Int>) {
        let folder = url.appending(path: name)
        guard StoreKind(directory: folder.path) == .packed else {
            let file = try #require(try entryFiles(name).first)
            return (file, 0..<(try Data(contentsOf: file).count))
        }
        let store = try PackedStore(directory: folder.path, create: true)
        var latest: EntryInformation?
        try store.forEachEntry { entry in
            if case .success(let entry) = entry, entry.identity.isLater(than: latest?.identity) { latest = entry }
            return true
        }
        // Upkeep may have appended other records after it.
        let (key, digest) = try store.key(try #require(latest).key)
        let slot = try #require(try store.current.find(key, digest)).slot
        let start = Int(slot.place.offset)
        return (folder.appending(path: Segment.fileName(slot.place.segment)), start..<start + Int(slot.byteCount))
    }

    /// Changes a byte in the middle of the entry that was saved last.
    func damageEntry(_ name: String) throws {
        let (file, bytes) = try lastEntry(name)
        try flip(file, at: (bytes.lowerBound + bytes.upperBound) / 2)
    }

    /// Changes a byte of a file where it stands.
    func flip(_ file: URL, at offset: Int, mask: UInt8 = 0xFF) throws {
        let handle = try FileHandle(forUpdating: file)
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(offset))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: Data([byte ^ mask]))
    }

    /// The files of the entries in a cache of files.
    func entryFiles(_ name: String) throws -> [URL] {
        let root = url.appending(path: name)
        return try FileManager.default.subpathsOfDirectory(atPath: root.path)
            .filter { !$0.hasPrefix(".") && $0.contains("/") }
            .map { root.appending(path: $0) }
    }
}
