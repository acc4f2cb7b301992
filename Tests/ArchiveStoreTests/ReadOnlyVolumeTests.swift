import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

#if os(Linux)
    /// The errors of a packed store on a read-only volume.
    @Suite(.enabled(if: SmallVolume.isPossible, "a small volume cannot be mounted here, which takes root"))
    struct ReadOnlyVolumeTests {
        @Test func changesAreRefusedWithTheSystemsReason() throws {
            try SmallVolume.mount("size=2m") { path, remount in
                do {
                    let store = try PackedStore(directory: path + "/cache", create: true)
                    try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
                    store.finishUpkeep()
                }
                try remount("ro")
                let store = try PackedStore(directory: path + "/cache", create: false)
                #expect(try store.fetch(forKey: "key")?.archive == [1])
                func number(_ body: () throws -> Void) -> Int32? {
                    do {
                        try body()
                        return nil
                    } catch {
                        return (error as? StoreError)?.errorNumber
                    }
                }
                #expect(number { try store.remove(forKey: "key") } == EROFS)
                #expect(number { try store.save([2], forKey: "key", storedAt: .now, expiresAt: nil) } == EROFS)
                #expect(try store.fetch(forKey: "key")?.archive == [1])

                // The store that was refused takes changes as soon as they are allowed.
                try remount("rw")
                try store.save([3], forKey: "key", storedAt: .now, expiresAt: nil)
                #expect(try store.fetch(forKey: "key")?.archive == [3])
            }
        }
    }
#endif
