import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A store's promises when calls fail while it is opened, or where it may not write at all.
@Suite struct OpenFaultTests {
    /// The state of the store's path before the test.
    enum Place: CaseIterable, Sendable {
        case nothing, emptyDirectory, store
    }

    private func prepare(_ place: Place, at path: String) throws {
        if place == .nothing { return }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        if place == .emptyDirectory { return }
        try save([1], in: FileStore(directory: path, create: true))
    }

    private func save(_ archive: [UInt8], in store: FileStore) throws {
        try store.save(archive, forKey: "key", storedAt: .now, expiresAt: nil)
    }

    private func open(_ path: String, _ faulty: FaultyLayer) throws -> FileStore {
        var settings = StoreSettings()
        settings.durability = .power
        return try FileStore(directory: path, create: true, settings: settings, layer: faulty.layer) {
            EntryName($0)
        }
    }

    private func error(_ body: () throws -> Void) throws -> StoreError {
        try #require(#expect(throws: StoreError.self, performing: body))
    }

    @Test(arguments: Place.allCases) func opensOnceCallsSucceedAgain(place: Place) throws {
        let count = try check(place, .nothing)
        for index in 0..<count {
            for number in [EIO, ENOSPC, EACCES, EMFILE, EINTR] { try check(place, .once(index, .fail(number))) }
            try check(place, .from(index, .fail(EROFS)))
        }
        try check(place, .from(0, .shorten(1)))
    }

    /// - Returns: how many calls were made.
    @discardableResult
    private func check(_ place: Place, _ plan: FaultyLayer.Plan) throws -> Int {
        var count = 0
        try withTemporaryDirectory(inMemory: true) { directory in
            let path = directory + "/a/b/cache"
            let comment: Comment = "\(place), \(plan)"
            try prepare(place, at: path)
            let faulty = FaultyLayer()
            var failure: StoreError?
            count = try faulty.planning(plan) {
                do {
                    _ = try open(path, faulty)
                } catch let error as StoreError {
                    failure = error
                }
            }.count
            #expect(failure == nil || !plan.mustNotShow, comment)
            if let count = openFileCount(in: directory) { #expect(count == 0, comment) }
            do {
                let store = try open(path, faulty)
                #expect(try store.fetch(forKey: "key")?.archive == (place == .store ? [1] : nil), comment)
                try save([2], in: store)
                #expect(try FileStore(directory: path, create: false).fetch(forKey: "key")?.archive == [2], comment)
                let drafts = try FileManager.default.contentsOfDirectory(atPath: path + "/.drafts")
                #expect(drafts.count == 1, comment)
            }
            if let count = openFileCount(in: directory) { #expect(count == 0, comment) }
        }
        return count
    }

    // MARK: Directories that may not be used as usual

    /// A store whose calls fail as `failing` says, on a directory with the entries "key" and "damaged".
    private func withStore(
        failing number: Int32,
        _ operations: Set<FileLayer.Operation>,
        _ body: (FileStore, String) throws -> Void
    ) throws {
        try withTemporaryDirectory { path in
            let writer = try FileStore(directory: path, create: true)
            try writer.save([3], forKey: "damaged", storedAt: .now, expiresAt: nil)
            let damaged = try #require(entries(in: path).first)
            try writeFile([3], damaged)
            try save([1], in: writer)
            let layer = FileLayer { operations.contains($0.operation) ? .fail(number) : .proceed }
            let store = try FileStore(directory: path, create: true, layer: layer) { EntryName($0) }
            try body(store, damaged)
        }
    }

    @Test(arguments: [EROFS, EACCES, EPERM]) func aReadOnlyDirectoryIsStillRead(number: Int32) throws {
        let changes: Set<FileLayer.Operation> = [.makeFile, .makeDirectory, .rename, .link, .remove, .write]
        try withStore(failing: number, changes) { store, damaged in
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            for body in [
                { try save([2], in: store) }, { try store.remove(forKey: "key") }, { try store.removeAll() },
            ] as [() throws -> Void] {
                let error = try error(body)
                #expect(error.code == .io && error.errorNumber == number)
            }
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            let damage = try error { _ = try store.fetch(forKey: "damaged") }
            #expect(damage.code == .corrupted && damage.reason.contains("could not be removed"))
            #expect(FileManager.default.fileExists(atPath: damaged))
        }
    }

    @Test func anUnreadableDirectoryIsAnErrorNotAMiss() throws {
        try withTemporaryDirectory { path in
            try prepare(.store, at: path)
            let refused = FileLayer { $0.operation == .open ? .fail(EACCES) : .proceed }
            for create in [true, false] {
                let error = try error {
                    _ = try FileStore(directory: path, create: create, layer: refused) { EntryName($0) }
                }
                #expect(error.code == .io && error.errorNumber == EACCES && error.path == path)
            }
            let entryRefused = FileLayer {
                $0.operation == .open && $0.name.hasSuffix(".0") ? .fail(EACCES) : .proceed
            }
            let store = try FileStore(directory: path, create: true, layer: entryRefused) { EntryName($0) }
            let error = try error { _ = try store.fetch(forKey: "key") }
            #expect(error.code == .io && error.errorNumber == EACCES)
            #expect(try FileStore(directory: path, create: false).fetch(forKey: "key")?.archive == [1])
        }
    }

    @Test(arguments: [FileLayer.Operation.makeFile, .write, .close, .rename])
    func aFullDiskLeavesTheOldEntryWhereverItShows(operation: FileLayer.Operation) throws {
        try withTemporaryDirectory { path in
            try prepare(.store, at: path)
            let full = FaultyLayer.Plan.from(0, .fail(ENOSPC))
            let faulty = FaultyLayer(failing: [operation])
            let store = try FileStore(directory: path, create: true, layer: faulty.layer) { EntryName($0) }
            _ = try faulty.planning(full) {
                let error = try error { try save([2], in: store) }
                #expect(error.code == .io && error.errorNumber == ENOSPC)
                #expect(try store.fetch(forKey: "key")?.archive == [1])
                // Room is made by removing, which needs none.
                #expect(try store.remove(forKey: "key"))
            }
            try save([2], in: store)
            #expect(try store.fetch(forKey: "key")?.archive == [2])
        }
    }

    /// The directory goes while a save is under way: it is made again, and the save is whole.
    @Test func aDirectoryThatVanishesMeanwhileIsMadeAgain() throws {
        for operation in [FileLayer.Operation.makeFile, .write, .lock, .rename] {
            try withTemporaryDirectory { directory in
                let path = directory + "/cache"
                try prepare(.store, at: path)
                let faults = Faults()
                let vanishing = Faults()
                let layer = FileLayer { call in
                    guard call.operation == operation, vanishing.all.count == 1 else { return .proceed }
                    vanishing.add("vanished")
                    do {
                        try FileManager.default.removeItem(atPath: path)
                    } catch {
                        faults.add("\(error)")
                    }
                    return .proceed
                }
                let store = try FileStore(directory: path, create: true, layer: layer) { EntryName($0) }
                #expect(try store.fetch(forKey: "key")?.archive == [1])
                vanishing.add("armed")
                try save([2], in: store)
                #expect(vanishing.all.count == 2 && faults.all == [], "\(operation)")
                #expect(try store.fetch(forKey: "key")?.archive == [2], "\(operation)")
                #expect(
                    try FileStore(directory: path, create: false).fetch(forKey: "key")?.archive == [2],
                    "\(operation)"
                )
            }
        }
    }

    /// The save goes on until the entry is there.
    @Test func aDirectoryMayVanishAgainAndAgainWhileAnEntryIsSaved() throws {
        try withTemporaryDirectory(inMemory: true) { directory in
            let path = directory + "/cache"
            try prepare(.store, at: path)
            let vanishings = Faults()
            let layer = FileLayer { call in
                guard call.operation == .rename, (1...6).contains(vanishings.all.count) else { return .proceed }
                vanishings.add("vanished")
                #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) }
                return .proceed
            }
            let store = try FileStore(directory: path, create: true, layer: layer) { EntryName($0) }
            vanishings.add("armed")
            try save([2], in: store)
            #expect(vanishings.all.count == 7)
            #expect(try FileStore(directory: path, create: false).fetch(forKey: "key")?.archive == [2])
        }
    }
}
