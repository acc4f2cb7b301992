import Foundation
import Testing

@testable import ArchiveStore

/// One operation on a store while calls fail, and the content that is expected afterwards.
struct FaultScenario: Sendable, CustomTestStringConvertible {
    let name: String
    /// Runs the operation and checks its result; throws the store's error.
    let act: @Sendable (any ArchiveStore) throws -> Void
    /// The values under the keys that a success changes.
    var changes: [String: [UInt8]?] = [:]
    /// Whether the file of `key` is damaged before.
    var isDamaged = false
    var durability = StoreSettings.Durability.process

    var testDescription: String { name }

    static let key = "key"
    /// In the order in which they are saved; the key in question is in the middle of those that share a name.
    static let archives: [(key: String, archive: [UInt8])] = [
        ("first", [1, 1, 1]), (key, Array("the old archive".utf8)), ("last", [3, 3, 3]),
    ]
    static let newArchive = Array("the new archive, which is longer".utf8)
    static let deadlines = (
        old: Date(timeIntervalSinceReferenceDate: 1e6), new: Date(timeIntervalSinceReferenceDate: 2e6)
    )

    /// The values that `key` may have after the scenario.
    func allowed(_ key: String, after hasSucceeded: Bool) -> [[UInt8]?] {
        let old = Self.archives.first { $0.key == key && !(isDamaged && $0.key == Self.key) }?.archive
        guard let new = changes[key] else { return [old] }
        return hasSucceeded ? [new] : [old, new]
    }

    private static func save(_ key: String = key, in store: any ArchiveStore) throws {
        try store.save(newArchive, forKey: key, storedAt: .distantPast, expiresAt: deadlines.old)
        #expect(try store.fetch(forKey: key)?.archive == newArchive)
    }

    private static func names(in store: any ArchiveStore) throws -> (sound: Set<String>, damagedCount: Int) {
        var sound: Set<String> = []
        var damagedCount = 0
        var failure: StoreError?
        try store.forEachEntry { result in
            switch result {
            case .success(let entry): #expect(sound.insert(entry.key).inserted)
            case .failure(let error) where error.code == .corrupted: damagedCount += 1
            case .failure(let error): failure = failure ?? error
            }
            return true
        }
        if let failure { throw failure }
        return (sound, damagedCount)
    }

    /// Expects `body` to throw `.corrupted`; rethrows any other error.
    private static func noticingDamage<Result>(_ body: () throws -> Result) throws {
        do {
            _ = try body()
            Issue.record("damage was not noticed")
        } catch let error as StoreError where error.code == .corrupted {}
    }

    static let all: [FaultScenario] = [
        FaultScenario(name: "save a new key", act: { try save("new", in: $0) }, changes: ["new": newArchive]),
        FaultScenario(name: "save over a key", act: { try save(in: $0) }, changes: [key: newArchive]),
        FaultScenario(
            name: "save over a damaged entry",
            act: { try save(in: $0) },
            changes: [key: newArchive],
            isDamaged: true
        ),
        FaultScenario(
            name: "save if it is there",
            act: { store in
                let attributes = EntryAttributes(storedAt: .distantPast, expiresAt: nil)
                let saved = try store.save(newArchive, forKey: key, attributes: attributes) { $0 != nil }
                #expect(saved?.archiveByteCount == newArchive.count)
            },
            changes: [key: newArchive]
        ),
        FaultScenario(
            name: "save if it is not there",
            act: { store in
                let attributes = EntryAttributes(storedAt: .distantPast, expiresAt: nil)
                let result = try store.save(newArchive, forKey: key, attributes: attributes) { $0 == nil }
                #expect(result == nil)
            }
        ),
        FaultScenario(
            name: "save durably",
            act: { try save("new", in: $0) },
            changes: ["new": newArchive],
            durability: .power
        ),
        FaultScenario(
            name: "fetch",
            act: { store in
                let result = try store.fetch(forKey: key)?.archive
                #expect(result == archives[1].archive)
            }
        ),
        FaultScenario(
            name: "fetch nothing",
            act: { store in
                let result = try store.fetch(forKey: "new")
                #expect(result == nil)
            }
        ),
        FaultScenario(
            name: "fetch a damaged entry",
            act: { store in try noticingDamage { try store.fetch(forKey: key) } },
            isDamaged: true
        ),
        FaultScenario(
            name: "information",
            act: { store in
                let result = try store.information(forKey: key)?.archiveByteCount
                #expect(result == archives[1].archive.count)
            }
        ),
        FaultScenario(
            name: "remove",
            act: { store in
                let result = try store.remove(forKey: key)
                #expect(result)
                let left = try store.fetch(forKey: key)
                #expect(left == nil)
            },
            changes: [key: nil]
        ),
        FaultScenario(
            name: "remove durably",
            act: { store in
                let result = try store.remove(forKey: key)
                #expect(result)
            },
            changes: [key: nil],
            durability: .power
        ),
        FaultScenario(
            name: "remove a damaged entry",
            act: { store in
                let result = try store.remove(forKey: key)
                #expect(result)
            },
            isDamaged: true
        ),
        FaultScenario(
            name: "remove this very entry",
            act: { store in
                guard let entry = try store.information(forKey: key) else { return }
                let result = try store.remove(entry)
                #expect(result)
            },
            changes: [key: nil]
        ),
        FaultScenario(
            name: "move a deadline",
            act: { store in
                guard let entry = try store.information(forKey: key) else { return }
                let result = try store.moveDeadline(of: entry, to: deadlines.new)?.expiresAt
                #expect(result == deadlines.new)
            }
        ),
    ]

    /// Those that go through all directories of entries, which takes longer.
    static let walks: [FaultScenario] = [
        FaultScenario(
            name: "enumerate",
            act: { store in
                let result = try names(in: store)
                #expect(result == (Set(archives.map(\.key)), 0))
            }
        ),
        FaultScenario(
            name: "enumerate a damaged entry",
            act: { store in
                let result = try names(in: store)
                #expect(result == (Set(archives.map(\.key)).subtracting([key]), 1))
            },
            isDamaged: true
        ),
        FaultScenario(
            name: "remove damaged entries",
            act: { store in
                let result = try store.removeDamagedEntries()
                #expect(result == 1)
                let left = try store.fetch(forKey: key)
                #expect(left == nil)
            },
            isDamaged: true
        ),
        FaultScenario(
            name: "remove all",
            act: { try $0.removeAll() },
            changes: Dictionary(uniqueKeysWithValues: archives.map { ($0.key, nil) })
        ),
        FaultScenario(
            name: "remove all durably",
            act: { try $0.removeAll() },
            changes: Dictionary(uniqueKeysWithValues: archives.map { ($0.key, nil) }),
            durability: .power
        ),
    ]
}
