import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Archives that are saved and fetched as they are kept, compressed.
struct StreamTests {
    private let archive = Array("One archive, one archive, one archive, and one more.".utf8)

    /// Checks that streams and archives come back as either, and streams as they were.
    private func check(
        _ store: any ArchiveStore,
        save: ([UInt8], String, EntryAttributes) throws -> Void,
        fetch: (String) throws -> [UInt8]?
    ) throws {
        let stream = Zlib.deflate(archive)
        let attributes = EntryAttributes(storedAt: .now)
        try save(stream, "a", attributes)
        try store.save(archive, forKey: "b", attributes: attributes, if: nil)
        for key in ["a", "b"] {
            #expect(try store.fetch(forKey: key)?.archive == archive)
            #expect(try fetch(key) == stream)
        }
        #expect(try fetch("c") == nil)
    }

    @Test func packedStoresTakeAndGiveStreams() throws {
        try withTemporaryDirectory { directory in
            let store = try PackedStore(directory: directory + "/store", create: true)
            try check(store) { stream, key, attributes in
                try store.save(stream: stream, archiveByteCount: archive.count, forKey: key, attributes: attributes)
            } fetch: { key in
                try store.fetchStream(forKey: key).map { Array($0.stream) }
            }
            let statistics = try store.statistics()
            #expect(statistics.entryCount == 2)
            #expect(statistics.entryByteCount == statistics.appendedByteCount)
            #expect(statistics.byteCount > statistics.entryByteCount)
            #expect(statistics.fileCount == 1)
            #expect(statistics.carriedByteCount == 0)
        }
    }

    @Test func fileStoresTakeAndGiveStreams() throws {
        try withTemporaryDirectory { directory in
            let store = try FileStore(directory: directory + "/store", create: true)
            try check(store) { stream, key, attributes in
                try store.save(stream: stream, archiveByteCount: archive.count, forKey: key, attributes: attributes)
            } fetch: { key in
                try store.fetchStream(forKey: key).map { Array($0.stream) }
            }
        }
    }

    @Test func damagedStreamsAreNotGiven() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/store"
            let store = try PackedStore(directory: path, create: true)
            try store.save(archive, forKey: "a", attributes: EntryAttributes(storedAt: .now), if: nil)
            let segment = path + "/" + Segment.fileName(1)
            var bytes = try readFile(segment)
            bytes[bytes.count - 5] ^= 1
            try writeFile(bytes, segment)
            let again = try PackedStore(directory: path, create: false)
            #expect { try again.fetchStream(forKey: "a") } throws: { ($0 as? StoreError)?.code == .corrupted }
        }
    }
}
