import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

@Suite struct StoreErrorTests {
    private func error(_ body: () throws -> Void) throws -> StoreError {
        try #require(#expect(throws: StoreError.self, performing: body))
    }

    @Test func namesPathAndCause() throws {
        try withTemporaryDirectory { path in
            try writeFile([1], path + "/file")
            let error = try error { _ = try FileStore(directory: path + "/file/cache", create: true) }
            #expect(error.errorNumber == ENOTDIR)
            #expect(error.path == path + "/file/cache")
            #expect("\(error)".contains(String(cString: strerror(ENOTDIR))))
        }
    }

    @Test func limitsAreNotShownAsWhatExceedsThem() {
        func reason(_ byteCount: Int, _ limit: Int) -> String {
            StoreError.tooLarge(byteCount, limit: limit).reason
        }
        #expect(reason(100_010, 100_000) == "100010 bytes are more than the limit of 100000 bytes")
        #expect(reason((1 << 20) + 1, 1 << 20) == "1.1 MiB are more than the limit of 1 MiB")
        #expect(reason(470, 100) == "470 bytes are more than the limit of 100 bytes")
    }

    /// A segment takes some of it.
    @Test func aLimitIsShownBesideItsPartForOneEntry() throws {
        try withTemporaryDirectory { path in
            let store = try PackedStore(directory: path, create: true, settings: StoreSettings(byteLimit: 4_000))
            var random = SeededGenerator(seed: 1)
            let archive = random.bytes(5_000)
            let error = try error { try store.save(archive, forKey: "key", storedAt: .now, expiresAt: nil) }
            #expect(error.code == .tooLarge)
            let sentence = /5 KiB are more than the 3\.\d KiB that a limit of 4 KiB leaves for one entry/
            #expect(error.reason.wholeMatch(of: sentence) != nil, "\(error.reason)")
        }
    }

    @Test func aLimitOfNoEntriesIsNoneOfBytes() throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.countLimit = 0
            let stores: [any ArchiveStore] = [
                try FileStore(directory: path + "/files", create: true, settings: settings),
                try PackedStore(directory: path + "/packed", create: true, settings: settings),
            ]
            for store in stores {
                let error = try error { try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil) }
                #expect(error.code == .tooLarge)
                #expect(error.reason == "the limit is no entries at all")
            }
        }
    }

    @Test func aFailedSaveLeavesTheOldEntryAndNoDraft() throws {
        try withTemporaryDirectory { path in
            let renames = FaultyLayer(failing: [.rename])
            let store = try FileStore(directory: path, create: true, layer: renames.layer) { EntryName($0) }
            try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            let entry = try #require(entries(in: path).first)
            _ = try renames.planning(.from(0, .fail(EIO))) {
                let error = try error { try store.save([2], forKey: "key", storedAt: .now, expiresAt: nil) }
                #expect(error.code == .io && error.path == entry && error.errorNumber == EIO)
                #expect(!"\(error)".contains("key"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/.drafts").count == 1)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
        }
    }

    @Test func aDamagedEntryThatCannotBeRemovedIsTold() throws {
        try withTemporaryDirectory { path in
            let removals = FaultyLayer(failing: [.remove])
            let store = try FileStore(directory: path, create: true, layer: removals.layer) { EntryName($0) }
            try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            try writeFile([1, 2, 3], try #require(entries(in: path).first))
            _ = try removals.planning(.from(0, .fail(EIO))) {
                let damage = try error { _ = try store.fetch(forKey: "key") }
                #expect(damage.code == .corrupted && damage.reason.contains("could not be removed"))
            }
        }
    }

    /// A directory that stands in the place of an entry's file is taken out of the way, with its content.
    @Test func aDirectoryInThePlaceOfAnEntryIsMovedAside() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            let entry = try #require(entries(in: path).first)
            func put(isEmpty: Bool) throws {
                try? FileManager.default.removeItem(atPath: entry)
                try FileManager.default.createDirectory(atPath: entry, withIntermediateDirectories: false)
                if !isEmpty { try writeFile([1, 2, 3], entry + "/kept") }
            }
            for isEmpty in [true, false] {
                try put(isEmpty: isEmpty)
                try store.save([2], forKey: "key", storedAt: .now, expiresAt: nil)
                #expect(try store.fetch(forKey: "key")?.archive == [2])
                try put(isEmpty: isEmpty)
                let damage = try error { _ = try store.fetch(forKey: "key") }
                #expect(damage.code == .corrupted && !damage.reason.contains("could not be removed"))
                #expect(try store.fetch(forKey: "key") == nil)
                try put(isEmpty: isEmpty)
                try store.removeAll()
                #expect(try store.keys() == [])
            }
            let folder = (entry as NSString).deletingLastPathComponent
            let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(names.count == 3 && names.allSatisfy { $0.hasSuffix(".aside") })
            for name in names { #expect(try readFile(folder + "/" + name + "/kept") == [1, 2, 3]) }
        }
    }

    /// The journal and the lists are made again where a directory stands in the place of one.
    @Test(arguments: [true, false])
    func aDirectoryInThePlaceOfAListIsMovedAside(isOpen: Bool) throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.countLimit = 10
            func open() throws(StoreError) -> FileStore {
                try FileStore(directory: path, create: true, settings: settings)
            }
            func save(_ key: String, in store: FileStore) throws {
                var attributes = EntryAttributes(storedAt: .now)
                attributes.expiresAt = Date(timeIntervalSinceReferenceDate: 1e10)
                attributes.tags = ["tag"]
                try store.save([1], forKey: key, attributes: attributes, if: nil)
            }
            var store = try open()
            try save("one", in: store)
            let files = FileManager.default
            let lists = try [".tags", ".wheel"].flatMap { folder in
                try files.contentsOfDirectory(atPath: path + "/" + folder).map { folder + "/" + $0 }
            }
            #expect(lists.count >= 2)
            let names = ["journal"] + lists
            for name in names {
                try files.removeItem(atPath: path + "/" + name)
                try files.createDirectory(atPath: path + "/" + name, withIntermediateDirectories: false)
                try writeFile([1, 2, 3], path + "/" + name + "/kept")
            }
            if !isOpen { store = try open() }
            try save("two", in: store)
            try store.removeAll(tagged: "tag", removing: { _ in }, removed: { _ in })
            #expect(try !store.keys().contains("two"))
            try save("three", in: store)
            try store.removeExpired(at: Date(timeIntervalSinceReferenceDate: 1e10 + 1e6)) { _ in }
            #expect(try !open().keys().contains("three"))
            let asides = try files.subpathsOfDirectory(atPath: path).filter { $0.hasSuffix(".aside/kept") }
            #expect(asides.count == names.count)
        }
    }

    /// An obstacle that stays is an error, with a remedy.
    @Test func anObstacleIsToldWithARemedy() throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.countLimit = 10
            let store = try FileStore(directory: path, create: true, settings: settings)
            try FileManager.default.createSymbolicLink(
                atPath: path + "/journal",
                withDestinationPath: path + "/format"
            )
            let error = try error { try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil) }
            #expect(error.code == .io && error.path.hasSuffix("/journal"))
            #expect(error.reason.hasSuffix("move it elsewhere, or remove it"))
        }
    }

    @Test func datesMustBeNumbers() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            let nan = Date(timeIntervalSinceReferenceDate: .nan)
            #expect(
                try error { try store.save([], forKey: "a", storedAt: nan, expiresAt: nil) }.code
                    == .invalidArgument
            )
            #expect(
                try error { try store.save([], forKey: "a", storedAt: .now, expiresAt: nan) }.code
                    == .invalidArgument
            )
            try store.save([], forKey: "a", storedAt: .distantPast, expiresAt: .distantFuture)
            #expect(try store.information(forKey: "a")?.expiresAt == .distantFuture)
        }
    }

    @Test(.enabled(if: SmallVolume.isPossible, "a small volume cannot be mounted here, which takes root"))
    func aFullDiskLeavesTheOldEntry() throws {
        try SmallVolume.mount("size=256k") { path, _ in
            let store = try FileStore(directory: path + "/cache", create: true)
            try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            var random = SeededGenerator(seed: 1)
            let archive = random.bytes(500_000)
            let error = try error {
                try store.save(archive, forKey: "key", storedAt: .now, expiresAt: nil)
            }
            #expect(error.code == .io && error.errorNumber == ENOSPC)
            #expect("\(error)".contains(String(cString: strerror(ENOSPC))))
            #expect(error.path.hasPrefix(store.path + "/.drafts/"))
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            #expect(try FileManager.default.contentsOfDirectory(atPath: store.path + "/.drafts").count == 1)
            try store.save([2], forKey: "key", storedAt: .now, expiresAt: nil)
        }
    }

    /// With limits, entries are evicted for room if the disk is full before a limit is reached.
    @Test(.enabled(if: SmallVolume.isPossible, "a small volume cannot be mounted here, which takes root"))
    func aFullDiskIsNoFailureWhereEntriesMayBeGivenUp() throws {
        try SmallVolume.mount("size=1m") { path, _ in
            var settings = StoreSettings()
            settings.byteLimit = 1 << 30
            let store = try FileStore(directory: path + "/cache", create: true, settings: settings)
            var random = SeededGenerator(seed: 1)
            for key in 0..<100 {
                let archive = random.bytes(50_000)
                try store.save(archive, forKey: "\(key)", storedAt: .now, expiresAt: nil)
                #expect(try store.fetch(forKey: "\(key)")?.archive == archive)
            }
            store.upkeep.sync {}
            try checkLedger(path + "/cache")
        }
    }
}
