import Foundation
import Testing

@testable import ArchiveStore

/// Archives that are saved and fetched as they are kept, compressed.
struct StreamTests {
    private let archive = Array("One archive, one archive, one archive, and one more.".utf8)

    @Test func packedStoresTakeAndGiveStreams() throws {
        try withTemporaryDirectory { directory in
            let store = try PackedStore(directory: directory + "/store", create: true)
            let stream = Zlib.deflate(archive)
            let attributes = EntryAttributes(storedAt: .now)
            try store.save(stream: stream, archiveByteCount: archive.count, forKey: "a", attributes: attributes)
            try store.save(archive, forKey: "b", attributes: attributes, if: nil)
            for key in ["a", "b"] {
                #expect(try store.fetch(forKey: key)?.archive == archive)
                #expect(try store.fetchStream(forKey: key).map { Array($0.stream) } == stream)
            }
            #expect(try store.fetchStream(forKey: "c") == nil)

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
            let stream = Zlib.deflate(archive)
            let attributes = EntryAttributes(storedAt: .now)
            try store.save(stream: stream, archiveByteCount: archive.count, forKey: "a", attributes: attributes)
            try store.save(archive, forKey: "b", attributes: attributes, if: nil)
            for key in ["a", "b"] {
                #expect(try store.fetch(forKey: key)?.archive == archive)
                #expect(try store.fetchStream(forKey: key).map { Array($0.stream) } == stream)
            }
            #expect(try store.fetchStream(forKey: "c") == nil)
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
