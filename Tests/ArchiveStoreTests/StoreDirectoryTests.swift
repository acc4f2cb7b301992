import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// A file store's use of the directory that it is given.
@Suite struct StoreDirectoryTests {
    private let files = FileManager.default

    private func error(_ body: () throws -> Void) -> StoreError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    private func save(_ byte: UInt8, _ key: String = "key", in store: FileStore) throws {
        try store.save([byte], forKey: key, storedAt: .now, expiresAt: nil)
    }

    @Test func keepsOthersOut() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path + "/a/b/cache", create: true)
            try save(1, in: store)
            let paths = try #require(files.enumerator(atPath: path)?.compactMap { $0 as? String })
            #expect(paths.count == 8)
            for name in paths {
                var isDirectory: ObjCBool = false
                #expect(files.fileExists(atPath: path + "/" + name, isDirectory: &isDirectory))
                #expect(
                    try permissions(path + "/" + name) == (isDirectory.boolValue ? 0o700 : 0o600),
                    "\(name)"
                )
            }
        }
    }

    @Test func writesNothingWhenReading() throws {
        try withTemporaryDirectory { path in
            do { try save(1, in: FileStore(directory: path, create: true)) }
            let before = try files.subpathsOfDirectory(atPath: path).sorted()
            let store = try FileStore(directory: path, create: true)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            #expect(try store.fetch(forKey: "other") == nil)
            try store.forEachEntry { _ in true }
            #expect(try files.subpathsOfDirectory(atPath: path).sorted() == before)
        }
    }

    @Test func isNotMadeUnlessAsked() throws {
        try withTemporaryDirectory { path in
            let missing = error { _ = try FileStore(directory: path + "/cache", create: false) }
            #expect(missing?.code == .io && missing?.errorNumber == ENOENT)
            #expect(!files.fileExists(atPath: path + "/cache"))
            let empty = error { _ = try FileStore(directory: path, create: false) }
            #expect(empty?.code == .io && empty?.errorNumber == ENOENT)
        }
    }

    @Test func refusesAFolderOfOthers() throws {
        try withTemporaryDirectory { path in
            for name in ["photo.jpg", "ab", ".hidden", "format"] {
                let folder = path + "/" + name
                try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try writeFile([1], folder + "/" + name)
                for create in [true, false] {
                    let refused = error { _ = try FileStore(directory: folder, create: create) }
                    #expect(refused?.code == .invalidDirectory, "\(name)")
                }
                #expect(try files.contentsOfDirectory(atPath: folder) == [name])
            }
        }
    }

    /// The marker may be removed by hand or by a program that cleans up, and so may all files but some.
    @Test(arguments: StoreKind.allCases, [["format"], ["format", "index", ".drafts", "journal"]])
    func isRecognizedByItsFiles(_ kind: StoreKind, removed: [String]) throws {
        func open(_ path: String, create: Bool) throws -> any ArchiveStore {
            switch kind {
            case .file: try FileStore(directory: path, create: create)
            case .packed: try PackedStore(directory: path, create: create)
            }
        }
        try withTemporaryDirectory { parent in
            let path = parent + "/cache"
            let store = try open(path, create: true)
            try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            try store.close()
            for name in removed { try? files.removeItem(atPath: path + "/" + name) }
            #expect(StoreKind(directory: path) == kind)
            // A store that only reads leaves it so, unless it has an index to write.
            #expect(try open(path, create: false).fetch(forKey: "key")?.archive == [1])
            if !removed.contains("index") { #expect(!files.fileExists(atPath: path + "/format")) }
            for other in StoreKind.allCases where other != kind {
                let refused = error {
                    switch other {
                    case .file: _ = try FileStore(directory: path, create: true)
                    case .packed: _ = try PackedStore(directory: path, create: true)
                    }
                }
                #expect(refused?.code == .invalidDirectory)
            }
            #expect(try open(path, create: true).fetch(forKey: "key")?.archive == [1])
            #expect(try readFile(path + "/format") == StoreMarker.bytes(kind))
        }
    }

    @Test func aWriterMakesTheMarkerAgain() throws {
        try withTemporaryDirectory { parent in
            let path = parent + "/cache"
            let store = try PackedStore(directory: path, create: true)
            try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            try files.removeItem(atPath: path + "/format")
            func isMarkedAfterASave() throws -> Bool {
                try store.save([2], forKey: "key", storedAt: .now, expiresAt: nil)
                return files.fileExists(atPath: path + "/format")
            }
            try wait(until: try isMarkedAfterASave())
        }
    }

    @Test func saysWhatToDoWithoutItsMarker() throws {
        try withTemporaryDirectory { path in
            try FileStore(directory: path, create: true).close()
            let marker = path + "/format"
            try writeFile([1], path + "/other")
            for text in ["", "typed-cache file stose, format 2\n", nil] {
                try files.removeItem(atPath: marker)
                if let text { try writeFile(Array(text.utf8), marker) }
                for create in [true, false] {
                    let refused = error { _ = try FileStore(directory: path, create: create) }
                    let remedy =
                        "restore the line as docs/format.md shows it, or remove the directory to start empty"
                    #expect(refused?.reason.hasSuffix(remedy) == true, "\(refused?.reason ?? "")")
                }
            }
        }
    }

    @Test func refusesLaterVersions() throws {
        try withTemporaryDirectory { path in
            for text in ["typed-cache file store, format 4\n", "typed-cache file store, format 10 and more"] {
                try writeFile(Array(text.utf8), path + "/format")
                #expect(
                    error { _ = try FileStore(directory: path, create: true) }?.code == .unsupportedVersion
                )
            }
            for text in [
                "", "typed-cache file store, format 0\n", "typed-cache file store, format \n", "else",
            ] {
                try writeFile(Array(text.utf8), path + "/format")
                #expect(error { _ = try FileStore(directory: path, create: true) }?.code == .invalidDirectory)
            }
            #expect(try files.contentsOfDirectory(atPath: path) == ["format"])
        }
    }

    @Test func takesOverTheFormerVersion() throws {
        try withTemporaryDirectory { path in
            do { try save(1, in: FileStore(directory: path, create: true)) }
            let marker = try readFile(path + "/format")
            #expect(String(decoding: marker, as: UTF8.self) == "typed-cache file store, format 2\n")
            let former = Array("typed-cache file store, format 1\n".utf8)
            try writeFile(former, path + "/format")
            let reader = try FileStore(directory: path, create: false)
            #expect(try reader.fetch(forKey: "key")?.archive == [1])
            #expect(try readFile(path + "/format") == former)
            let store = try FileStore(directory: path, create: true)
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            #expect(try readFile(path + "/format") == marker)
        }
    }

    @Test func completesADirectoryThatWasBegun() throws {
        try withTemporaryDirectory { path in
            try files.createDirectory(atPath: path + "/.drafts", withIntermediateDirectories: true)
            try writeFile([1], path + "/.drafts/0123456789abcdef.0")
            try save(1, in: FileStore(directory: path, create: true))
            #expect(try FileStore(directory: path, create: false).fetch(forKey: "key")?.archive == [1])
        }
    }

    /// Otherwise acknowledged entries of the other one are lost.
    @Test func isOfOneKindThoughTwoOpenItAtOnce() throws {
        for _ in 0..<100 {
            try withTemporaryDirectory { path in
                let opened = Recorder<StoreKind>()
                let refused = Recorder<StoreError>()
                DispatchQueue.concurrentPerform(iterations: 2) { number in
                    let kind: StoreKind = number == 0 ? .file : .packed
                    do {
                        switch kind {
                        case .file: _ = try FileStore(directory: path, create: true)
                        case .packed: _ = try PackedStore(directory: path, create: true)
                        }
                        opened.add(kind)
                    } catch {
                        refused.add(
                            error as? StoreError ?? StoreError(.io, path: path, action: "\(error)", reason: "")
                        )
                    }
                }
                #expect(opened.all == [StoreKind(directory: path)])
                #expect(refused.all.map(\.code) == [.invalidDirectory])
            }
        }
    }

    @Test func removesOnlyItsOwnFiles() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            for index in 0..<50 { try save(1, "key \(index)", in: store) }
            let shard = try #require(entries(in: path).first).dropLast(32)
            try writeFile([1], path + "/photo.jpg")
            try writeFile([1], shard + "photo.jpg")
            try store.removeAll()
            #expect(entries(in: path) == [])
            #expect(
                files.fileExists(atPath: path + "/photo.jpg") && files.fileExists(atPath: shard + "photo.jpg")
            )
        }
    }

    @Test func followsNoLinks() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path + "/cache", create: true)
            try save(1, in: store)
            let entry = try #require(entries(in: store.path).first)
            let shard = String(entry.dropLast(33))
            let elsewhere = path + "/elsewhere"

            // An entry.
            try files.moveItem(atPath: entry, toPath: elsewhere)
            try files.createSymbolicLink(atPath: entry, withDestinationPath: elsewhere)
            #expect(error { _ = try store.fetch(forKey: "key") }?.code == .corrupted)
            #expect(files.fileExists(atPath: elsewhere) && entries(in: store.path) == [])
            try files.createSymbolicLink(atPath: entry, withDestinationPath: elsewhere)
            let bytes = try readFile(elsewhere)
            try save(2, in: store)
            #expect(try readFile(elsewhere) == bytes)
            #expect(try store.fetch(forKey: "key")?.archive == [2])

            // A shard.
            try files.moveItem(atPath: shard, toPath: path + "/shard")
            try files.createSymbolicLink(atPath: shard, withDestinationPath: path + "/shard")
            for store in [store, try FileStore(directory: path + "/cache", create: true)] {
                #expect(error { try save(3, in: store) }?.code == .invalidDirectory)
            }
            let reader = try FileStore(directory: path + "/cache", create: true)
            #expect(error { _ = try reader.fetch(forKey: "key") }?.code == .invalidDirectory)
            #expect(error { try reader.removeAll() }?.code == .invalidDirectory)
            #expect(try files.contentsOfDirectory(atPath: path + "/shard").count == 1)
            try files.removeItem(atPath: shard)

            // The drafts.
            try files.moveItem(atPath: path + "/cache/.drafts", toPath: path + "/drafts")
            let drafts = try files.contentsOfDirectory(atPath: path + "/drafts")
            try files.createSymbolicLink(
                atPath: path + "/cache/.drafts",
                withDestinationPath: path + "/drafts"
            )
            #expect(error { try save(4, in: reader) }?.code == .invalidDirectory)
            #expect(try files.contentsOfDirectory(atPath: path + "/drafts") == drafts)

            // The directory itself.
            try files.createSymbolicLink(atPath: path + "/link", withDestinationPath: path + "/cache")
            #expect(
                error { _ = try FileStore(directory: path + "/link", create: true) }?.code
                    == .invalidDirectory
            )
            #expect(
                error { _ = try FileStore(directory: path + "/link/", create: true) }?.code
                    == .invalidDirectory
            )
        }
    }

    @Test func isNotHeldUpByAPipe() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            try save(1, in: store)
            let entry = try #require(entries(in: path).first)
            for make in [{ mkfifo(entry, 0o600) }, { mkdir(entry, 0o700) }] {
                try files.removeItem(atPath: entry)
                #expect(make() == 0)
                #expect(error { _ = try store.fetch(forKey: "key") }?.code == .corrupted)
                #expect(!files.fileExists(atPath: entry))
                try save(2, in: store)
                #expect(try store.fetch(forKey: "key")?.archive == [2])
            }
        }
    }

    @Test func isMadeAgainAfterItVanished() throws {
        try withTemporaryDirectory { path in
            let cache = path + "/cache"
            let store = try FileStore(directory: cache, create: true)
            let other = try FileStore(directory: cache, create: true)
            for part in ["", ".drafts", "moved"] + (0..<256).map(EntryName.shardName) {
                try save(1, in: store)
                try save(1, in: other)
                if part == "moved" {
                    try files.moveItem(atPath: cache, toPath: path + "/moved")
                } else if files.fileExists(atPath: cache + "/" + part) {
                    try files.removeItem(atPath: cache + "/" + part)
                } else {
                    continue
                }
                // A store goes on reading in a directory that was moved while it had it open, until it notices.
                if part != "moved", entries(in: cache) == [] {
                    #expect(try store.fetch(forKey: "key") == nil)
                    #expect(try !store.remove(forKey: "key"))
                }
                #expect(try store.fetch(forKey: "missing") == nil)
                try save(2, in: store)
                #expect(try other.fetch(forKey: "missing") == nil)
                try store.forEachEntry { entry in
                    #expect((try? entry.get().key).map(["key", "other"].contains) == true)
                    return true
                }
                #expect(try store.fetch(forKey: "key")?.archive == [2])
                #expect(try FileStore(directory: cache, create: false).fetch(forKey: "key")?.archive == [2])
                try save(3, "other", in: other)
                #expect(try other.fetch(forKey: "key")?.archive == [2])
                #expect(try store.fetch(forKey: "other")?.archive == [3])
            }
        }
    }

    @Test func findsNothingInADirectoryThatIsGone() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path + "/cache", create: true)
            try save(1, in: store)
            try files.removeItem(atPath: path + "/cache")
            #expect(try store.fetch(forKey: "key") == nil)
            #expect(try store.information(forKey: "key") == nil)
            try store.forEachEntry { _ in
                Issue.record("there is an entry")
                return true
            }
            try store.removeAll()
            #expect(!files.fileExists(atPath: path + "/cache"))
        }
    }

    @Test func isFoundAfterTheWorkingDirectoryChanged() throws {
        #expect(try StoreFolder.absolutePath("cache//") == files.currentDirectoryPath + "/cache")
        #expect(error { _ = try StoreFolder.absolutePath("") }?.code == .invalidDirectory)
        #expect(error { _ = try StoreFolder.absolutePath("a\0b") }?.code == .invalidDirectory)
    }
}
