import Foundation
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// An encrypted file store gets another key, and no two of its files have the same one.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct SealedFileRotationTests {
    /// The keys of the entries' files.
    private func keys(_ path: String) throws -> Set<UInt64> {
        var keys: Set<UInt64> = []
        for (name, bytes) in try SealedFolder.files(path) where EntryName.shard(String(name.prefix(2))) != nil {
            keys.insert(try SealedEntry.Seal(bytes, fileByteCount: bytes.count, checksum: nil).key)
        }
        return keys
    }

    @Test func newEntriesHaveTheNewKey() throws {
        try withTemporaryDirectory { path in
            let first = try SealedFolder.openFiles(path)
            for number in 0..<100 {
                try first.save([UInt8(number)], forKey: "\(number)", storedAt: .now, expiresAt: nil)
            }
            #expect(try keys(path) == [1])
            let rotated = try SealedFolder.openFiles(path, .of(TrialKeys.two, TrialKeys.one))
            try rotated.save([200], forKey: "new", storedAt: .now, expiresAt: nil)
            #expect(try keys(path) == [1, 2])
            #expect(try rotated.fetch(forKey: "5")?.archive == [5])
            // The former process goes on with the entries that it can read, and its names are the same.
            try first.save([6], forKey: "5", storedAt: .now, expiresAt: nil)
            #expect(try first.fetch(forKey: "missing") == nil)
            #expect(try rotated.fetch(forKey: "5")?.archive == [6])
            try first.close()
            #expect(code { _ = try SealedFolder.openFiles(path) } == .locked)

            // Without the former key, its entries are not to be had, but they are there.
            let before = try SealedFolder.files(path)
            let partial = try SealedFolder.openFiles(path, .of(TrialKeys.two))
            #expect(try SealedFolder.answer(partial, "5") == .locked)
            #expect(try partial.fetch(forKey: "new")?.archive == [200])
            try partial.close()
            #expect(try SealedFolder.files(path) == before)

            let known = try #require(try rotated.information(forKey: "7"))
            try rotated.compact()
            #expect(try keys(path) == [2])
            // It is the same entry as before.
            #expect(try rotated.information(forKey: "7") == known)
            #expect(try rotated.remove(known))
            try rotated.close()
            let alone = try SealedFolder.openFiles(path, .of(TrialKeys.two))
            #expect(try alone.fetch(forKey: "5")?.archive == [6])
            #expect(try alone.fetch(forKey: "7") == nil)
            #expect(try alone.removeDamagedEntries() == 0)
        }
    }

    /// A store that is open asks for its keys again when it meets one that it does not have.
    @Test func aStoreFollowsAnotherOnesRotation() throws {
        try withTemporaryDirectory { path in
            let isRotated = Atomic(false)
            let count = Atomic(0)
            let provider = KeyProvider {
                count.add(1, ordering: .relaxed)
                let one = TrialKeys.one
                return isRotated.load(ordering: .relaxed)
                    ? SealingKeys(current: TrialKeys.two, others: [one]) : SealingKeys(current: one)
            }
            let reader = try SealedFolder.openFiles(path, provider)
            let writer = try SealedFolder.openFiles(path, provider)
            let walker = try SealedFolder.openFiles(path, provider)
            let batch = try SealedFolder.openFiles(path, provider) { $0.durability = .power }
            let locked = try SealedFolder.openFiles(path)
            for store in [reader, writer, locked] {
                try store.save([1], forKey: "former", storedAt: .now, expiresAt: nil)
            }
            let rotated = try SealedFolder.openFiles(path, .of(TrialKeys.two, TrialKeys.one))
            try rotated.save([2], forKey: "new", storedAt: .now, expiresAt: nil)
            #expect(code { _ = try reader.fetch(forKey: "new") } == .locked)
            isRotated.store(true, ordering: .relaxed)
            let before = count.load(ordering: .relaxed)
            #expect(try reader.fetch(forKey: "new")?.archive == [2])
            #expect(try reader.fetch(forKey: "new")?.archive == [2])
            #expect(count.load(ordering: .relaxed) == before + 1)
            var found = 0
            try walker.forEachEntry { entry in
                if case .success = entry { found += 1 }
                return true
            }
            #expect(found == 2)
            let new = NewArchive(key: "new", archive: [9], attributes: EntryAttributes(storedAt: .now))
            #expect(try batch.save([new])[0].get() != nil)
            try writer.save([3], forKey: "new", storedAt: .now, expiresAt: nil)
            #expect(try rotated.fetch(forKey: "new")?.archive == [3])
            #expect(try reader.fetch(forKey: "former")?.archive == [1])
            #expect(try SealedFolder.answer(locked, "new") == .locked)
            #expect(code { try locked.save([4], forKey: "new", storedAt: .now, expiresAt: nil) } == .locked)
        }
    }

    /// All that compacting writes is on the device when it returns, under each durability: the former key may be forgotten.
    @Test func compactingWaitsForTheDevice() throws {
        try withTemporaryDirectory { path in
            let first = try SealedFolder.openFiles(path)
            for number in 0..<5 { try first.save([1], forKey: "\(number)", storedAt: .now, expiresAt: nil) }
            let calls = Mutex<[FileLayer.Call]>([])
            let layer = FileLayer { call in
                calls.withLock { $0.append(call) }
                return .proceed
            }
            let settings = SealedFolder.settings(.of(TrialKeys.two, TrialKeys.one))
            let store = try FileStore(directory: path, create: false, settings: settings, layer: layer, naming: nil)
            try store.compact()
            let made = calls.withLock { $0 }
            func isSynchronized(_ name: String, in part: some Sequence<FileLayer.Call>) -> Bool {
                part.contains { $0.operation == .synchronize && $0.name == name }
            }
            var renames = 0
            for (place, call) in made.enumerated() where call.operation == .rename {
                let target = try #require(call.newName)
                let folder = target == "names" ? path : try entryFolder(of: target, in: path)
                #expect(isSynchronized(call.name, in: made[..<place]), "\(target)")
                #expect(isSynchronized(folder, in: made[place...]), "\(target)")
                renames += 1
            }
            #expect(renames == 6)
        }
    }

    /// The two-digit folder with an entry's file.
    private func entryFolder(of file: String, in path: String) throws -> String {
        let found = try SealedFolder.files(path).keys.first { $0.hasSuffix("/" + file) }
        return String(try #require(found).prefix(2))
    }

    /// A process that cannot replace the file of the names goes on with it as it is.
    @Test func aReadOnlyFolderIsNotRotated() throws {
        try withTemporaryDirectory { path in
            let first = try SealedFolder.openFiles(path)
            try first.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            let layer = FileLayer { call in
                call.operation == .rename || call.operation == .makeFile ? .fail(EROFS) : .proceed
            }
            let settings = SealedFolder.settings(.of(TrialKeys.two, TrialKeys.one))
            let store = try FileStore(directory: path, create: true, settings: settings, layer: layer, naming: nil)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            #expect(code { _ = try store.compact() } == .io)
        }
    }

    // MARK: Salts

    /// No two files have one key: not by threads, by stores of one folder, or after a restored backup.
    @Test func noFileHasTheKeyOfAnother() throws {
        try withTemporaryDirectory { path in
            var salts: [[UInt8]] = []
            func collect(_ folder: String) throws {
                for (name, bytes) in try SealedFolder.files(folder)
                where EntryName.shard(String(name.prefix(2))) != nil {
                    let salt = Array(bytes.suffix(SealedEntry.sealByteCount).prefix(SealedEntry.saltByteCount))
                    salts.append(salt + Array(name.utf8))
                }
            }
            let stores = try (0..<2).map { _ in try SealedFolder.openFiles(path + "/cache") }
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for number in 0..<50 {
                    try? stores[thread % 2].save([1], forKey: "\(number)", storedAt: .now, expiresAt: nil)
                }
            }
            for store in stores { try store.close() }
            try collect(path + "/cache")
            let backup = try SealedFolder.files(path + "/cache")
            for folder in ["a", "b"] {
                try SealedFolder.write(backup, to: path + "/" + folder)
                let store = try SealedFolder.openFiles(path + "/" + folder)
                for number in 0..<50 { try store.save([2], forKey: "\(number)", storedAt: .now, expiresAt: nil) }
                try collect(path + "/" + folder)
            }
            #expect(salts.count == 150 && Set(salts.map { $0.prefix(16) }).count == 150)
        }
    }

    /// There is nothing to encrypt again then, which is no failure.
    @Test func aFolderMayBeEmptiedWhileItsEntriesGetAnotherKey() throws {
        try withTemporaryDirectory(inMemory: true) { parent in
            let path = parent + "/cache"
            try SealedFolder.openFiles(path).save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            let isArmed = Mutex(false)
            let layer = FileLayer { call in
                guard call.operation == .lock, isArmed.withLock({ $0 }) else { return .proceed }
                isArmed.withLock { $0 = false }
                #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path + "/names") }
                return .proceed
            }
            let settings = SealedFolder.settings()
            let store = try FileStore(directory: path, create: true, settings: settings, layer: layer, naming: nil)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            isArmed.withLock { $0 = true }
            #expect(try store.rekey { _ in true }.entryCount == 0)
            #expect(isArmed.withLock { !$0 })
            try store.save([2], forKey: "key", storedAt: .now, expiresAt: nil)
            #expect(try store.fetch(forKey: "key")?.archive == [2])
        }
    }
}
