import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Files that exist and may not be read just now: Apple's data protection, say, while a device is locked.
@Suite struct ProtectionTests {
    enum Kind: CaseIterable { case file, packed }

    private func open(_ kind: Kind, _ path: String, layer: FileLayer) throws -> any ArchiveStore {
        switch kind {
        case .file:
            try FileStore(directory: path, create: true, settings: StoreSettings(), layer: layer) { EntryName($0) }
        case .packed:
            try PackedStore(directory: path, create: true, layer: layer) { KeyDigest(hashing: $0) }
        }
    }

    @Test(arguments: Kind.allCases, [EPERM, EACCES])
    func anEntryThatMayNotBeReadStays(kind: Kind, number: Int32) throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/cache"
            let first = try open(kind, path, layer: FaultyLayer().layer)
            try first.save([1, 2, 3], forKey: "key", storedAt: .now, expiresAt: nil)

            for failing: Set<FileLayer.Operation> in [[.open], [.read], [.open, .read]] {
                let faulty = FaultyLayer(failing: failing)
                let store = try open(kind, path, layer: faulty.layer)
                _ = faulty.planning(.from(0, .fail(number))) {
                    // A file opened before may still be read; a read that fails is a failure, not a miss.
                    do {
                        #expect(try store.fetch(forKey: "key")?.archive == [1, 2, 3])
                    } catch {
                        #expect((error as? StoreError)?.code == .io)
                        #expect((error as? StoreError)?.errorNumber == number)
                    }
                    #expect((try? store.removeDamagedEntries()) ?? 0 == 0)
                }
                #expect(try store.fetch(forKey: "key")?.archive == [1, 2, 3])
            }
            #expect(try first.fetch(forKey: "key")?.archive == [1, 2, 3])
        }
    }
}
