import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A volume turns out to be full, or a user's quota on it: a store with a limit evicts old entries for new ones.
@Suite struct FullVolumeTests {
    @Test(arguments: [StoreKind.packed, .file], [ENOSPC, EDQUOT])
    func aStoreWithALimitMakesRoom(_ kind: StoreKind, _ number: Int32) throws {
        for isBatch in [false, true] {
            let calls = try check(kind, isBatch: isBatch, plan: .nothing)
            let writes = calls.indices.filter { calls[$0].operation == .write }
            #expect(!writes.isEmpty)
            for index in writes { try check(kind, isBatch: isBatch, plan: .once(index, .fail(number))) }
        }
    }

    /// A record that would have been the first of its segment, before another process appended one.
    @Test func aRecordThatFoundNoRoomGetsItsPlaceAnew() throws {
        try withTemporaryDirectory(inMemory: true) { path in
            let faulty = FaultyLayer(failing: [.write])
            let store = try PackedStore(directory: path, create: true, settings: .init(), layer: faulty.layer) {
                KeyDigest(hashing: $0)
            }
            try store.save([1], forKey: "a")
            let log = try #require(store.current)
            try log.beginSegment()
            let key = Array("b".utf8)
            var draft = RecordDraft.removal(key: key, hash: store.hashing(key).high, isSealed: false)
            func append() throws(StoreError) -> RecordPlace {
                try log.lock.withExclusiveLog { state throws(StoreError) in try state.log.append(&draft) }
            }
            _ = faulty.planning(.from(0, .fail(ENOSPC))) {
                #expect(throws: StoreError.self) { try append() }
            }
            try PackedStore(directory: path, create: true).save([2], forKey: "c")
            let place = try append()
            let segment = try #require(try log.reader.segments.segment(place.segment))
            var scanner = SegmentScanner(segment, to: try segment.file.byteCount())
            var keys: [String] = []
            while let step = try scanner.next() {
                if case .record(let record, _) = step { keys.append(String(decoding: record.key, as: UTF8.self)) }
            }
            #expect(keys == ["c", "b"])
        }
    }

    /// - Returns: the calls that the save made.
    @discardableResult
    private func check(_ kind: StoreKind, isBatch: Bool, plan: FaultyLayer.Plan) throws -> [FileLayer.Call] {
        var calls: [FileLayer.Call] = []
        try withTemporaryDirectory(inMemory: true) { path in
            let faulty = FaultyLayer()
            let settings = StoreSettings(countLimit: 100)
            let store: any ArchiveStore =
                switch kind {
                case .packed:
                    try PackedStore(directory: path, create: true, settings: settings, layer: faulty.layer) {
                        KeyDigest(hashing: $0)
                    }
                case .file:
                    try FileStore(directory: path, create: true, settings: settings, layer: faulty.layer) {
                        EntryName($0)
                    }
                }
            var random = SeededGenerator(seed: 8)
            for key in 0..<20 { try store.save(random.bytes(10_000), forKey: "old \(key)") }
            let keys = isBatch ? ["new 0", "new 1", "new 2"] : ["new 0"]
            let archive = random.bytes(10_000)
            calls = try faulty.planning(plan) {
                if isBatch {
                    let attributes = EntryAttributes(storedAt: .now)
                    let archives = keys.map { NewArchive(key: $0, archive: archive, attributes: attributes) }
                    for result in store.save(archives) { _ = try result.get() }
                } else {
                    try store.save(archive, forKey: keys[0])
                }
            }
            for key in keys { #expect(try store.fetch(forKey: key)?.archive == archive, "\(kind), \(plan)") }
        }
        return calls
    }
}
