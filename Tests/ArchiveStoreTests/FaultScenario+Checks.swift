import Testing

@testable import ArchiveStore

/// The checks that hold for every store after a scenario, with any of its calls failed.
extension FaultScenario {
    /// Checks that each key has its old or its new value, in both stores; a key that was not touched has the old one.
    ///
    /// - Parameter other: a store that was opened afterwards.
    func checkContent(
        of store: any ArchiveStore,
        and other: any ArchiveStore,
        after hasSucceeded: Bool,
        _ place: Comment
    ) throws {
        for key in Self.archives.map(\.key) + ["new"] {
            let allowed = allowed(key, after: hasSucceeded)
            let stored = try found(key, in: store)
            #expect(allowed.contains(stored?.archive), "\(key); \(place)")
            let deadline = stored?.information.expiresAt
            #expect([nil, Self.deadlines.old, Self.deadlines.new].contains(deadline), "\(key); \(place)")
            let same = try found(key, in: other)
            #expect(same?.archive == stored?.archive, "\(key); \(place)")
            #expect(same?.information == stored?.information, "\(key); \(place)")
        }
    }

    /// The entry of a key; `nil` as well if it is the one that the scenario damages.
    private func found(_ key: String, in store: any ArchiveStore) throws(StoreError) -> StoredArchive? {
        do {
            return try store.fetch(forKey: key)
        } catch  where isDamaged && key == Self.key && error.code == .corrupted {
            return nil
        }
    }

    /// Checks that a store saves and removes again once calls succeed.
    static func checkUse(of store: any ArchiveStore, _ place: Comment) throws {
        for key in [key, "new"] {
            try store.save([7], forKey: key)
            #expect(try store.fetch(forKey: key)?.archive == [7], place)
            #expect(try store.remove(forKey: key), place)
            #expect(try store.fetch(forKey: key) == nil, place)
        }
    }
}
