import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Root may work in another user's store, for which that user needs every file afterwards.
@Suite struct OwnerTests {
    private static let other = FileOwner(user: 65_534, group: 65_533)

    private func open(_ kind: StoreKind, _ path: String) throws -> any ArchiveStore {
        // A file store with a limit has a journal.
        let settings = StoreSettings(byteLimit: 1 << 20)
        return switch kind {
        case .packed: try PackedStore(directory: path, create: true, settings: settings)
        case .file: try FileStore(directory: path, create: true, settings: settings)
        }
    }

    private func names(_ path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).map { path + "/" + $0 }
    }

    /// - Parameter isFirst: whether the store is made again, and all its folders with it, or only its directory is there.
    @Test(
        .enabled(if: geteuid() == 0, "only root gives files away"),
        arguments: StoreKind.allCases,
        [true, false]
    )
    func aFileMadeByRootBelongsToTheOwnerOfTheDirectory(kind: StoreKind, isFirst: Bool) throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            func use(_ prefix: String) throws {
                let store = try open(kind, path)
                var attributes = EntryAttributes(storedAt: .now)
                attributes.tags = [prefix]
                attributes.expiresAt = .now + 1_000
                for key in 0..<50 {
                    _ = try store.save(
                        [UInt8](repeating: 1, count: 100),
                        forKey: "\(prefix) \(key)",
                        attributes: attributes,
                        if: nil
                    )
                }
                try store.remove(forKey: "\(prefix) 1")
                try (store as? PackedStore)?.compact()
                try store.close()
            }
            if isFirst {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            } else {
                try use("a")
            }
            for name in try [path] + names(path) { chown(name, Self.other.user, Self.other.group) }
            try use("b")
            let all = try names(path)
            #expect(all.count > 3)
            let others = try all.filter { name in
                let owner = try FileStatus(path: name, layer: FileLayer()).owner
                return owner.user != Self.other.user || owner.group != Self.other.group
            }
            #expect(others == [])
        }
    }
}
