import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A large archive that is stored as it is goes to its file in several pieces: any of those writes may fail.
@Suite struct LargeSaveFaultTests {
    private let old = Array("the old archive".utf8)
    private let new: [UInt8]

    init() {
        var random = SeededGenerator(seed: 5)
        new = MixedArchives.noise(600_000, using: &random)
    }

    @Test(arguments: [StoreKind.packed, .file])
    func aSaveThatFailsLeavesTheOldArchive(_ kind: StoreKind) throws {
        let calls = try check(kind, .nothing)
        #expect(calls.filter { $0.operation == .write }.count >= 3)
        for index in calls.indices {
            let plans: [FaultyLayer.Plan] = [
                .once(index, .fail(EIO)), .once(index, .shorten(1)), .once(index, .shorten(100_000)),
                .from(index, .fail(ENOSPC)),
            ]
            for plan in variants(plans, at: index) { try check(kind, plan) }
        }
    }

    /// - Returns: the calls that the save made.
    @discardableResult
    private func check(_ kind: StoreKind, _ plan: FaultyLayer.Plan) throws -> [FileLayer.Call] {
        var calls: [FileLayer.Call] = []
        try withTemporaryDirectory(inMemory: true) { directory in
            let path = directory + "/store"
            try open(kind, path).save(old, forKey: "key", storedAt: .now, expiresAt: nil)
            let faulty = FaultyLayer()
            let store = try open(kind, path, layer: faulty.layer)
            var failure: StoreError?
            calls = faulty.planning(plan) {
                do throws(StoreError) {
                    try store.save(new, forKey: "key", storedAt: .now, expiresAt: nil)
                } catch {
                    failure = error
                }
            }
            if plan.mustNotShow { #expect(failure == nil, "\(kind), \(plan)") }
            let stored = try open(kind, path).fetch(forKey: "key")
            #expect(stored?.archive == new || (failure != nil && stored?.archive == old), "\(kind), \(plan)")
            // It goes on.
            try store.save(new, forKey: "key", storedAt: .now, expiresAt: nil)
            #expect(try open(kind, path).fetch(forKey: "key")?.archive == new, "\(kind), \(plan)")
        }
        return calls
    }

    private func open(
        _ kind: StoreKind,
        _ path: String,
        layer: FileLayer = FileLayer()
    ) throws -> any ArchiveStore {
        let settings = StoreSettings()
        return switch kind {
        case .packed:
            try PackedStore(directory: path, create: true, settings: settings, layer: layer) {
                KeyDigest(hashing: $0)
            }
        case .file:
            try FileStore(directory: path, create: true, settings: settings, layer: layer) { EntryName($0) }
        }
    }
}
