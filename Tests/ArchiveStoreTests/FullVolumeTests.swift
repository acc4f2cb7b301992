import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A volume turns out to be full, or a user's quota on it: a store with a limit gives up old entries for new ones.
@Suite struct FullVolumeTests {
    @Test(arguments: [StoreKind.packed, .file], [ENOSPC, EDQUOT])
    func aStoreWithALimitMakesRoom(_ kind: StoreKind, _ number: Int32) throws {
        for isBatch in [false, true] {
            let calls = try check(kind, isBatch, .nothing)
            let writes = calls.indices.filter { calls[$0].operation == .write }
            #expect(!writes.isEmpty)
            for index in writes { try check(kind, isBatch, .once(index, .fail(number))) }
        }
    }

    /// - Returns: the calls that the save made.
    @discardableResult
    private func check(_ kind: StoreKind, _ isBatch: Bool, _ plan: FaultyLayer.Plan) throws -> [FileLayer.Call] {
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
