import Dispatch
import Foundation
import KeyedArchive
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

private struct FirstNote: CachedModel {
    static let modelName = "note"
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
}

/// The same model under another name of the type.
private struct RenamedNote: CachedModel {
    static let modelName = "note"
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
}

/// Version 2, which cannot read version 1.
private struct SecondNote: CachedModel {
    static let modelName = "note"
    static let schemaVersion = 2
    let id: Int
    var title: String
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
}

/// Version 3, which brings the others along.
private struct ThirdNote: CachedModel {
    static let modelName = "note"
    static let schemaVersion = 3
    let id: Int
    var title: String
    var length: Int
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }

    static func migrate(_ old: ArchiveTree, from version: Int) throws -> ArchiveTree? {
        var tree = old
        guard let root = tree.roots.first?.value, case .reference(let place) = root,
            var note = tree.instance(root)
        else { return nil }
        let name = version == 1 ? "text" : "title"
        guard let value = note[name], case .string(let title)? = tree.scalar(value) else { return nil }
        note.fields.removeAll { $0.name == name }
        note.fields.append(ArchiveTree.Field(key: "title", value: value))
        note.fields.append(ArchiveTree.Field(key: "length", value: .integer(Int64(title.count))))
        tree.objects[place] = .instance(note)
        return tree
    }
}

private struct StarredNote: CachedModel {
    static let modelName = "note"
    let id: Int
    var text: String
    var stars: Int
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
}

/// The migration of the documentation: a field has another name, one another type, and one is new.
private struct ReadNote: CachedModel {
    static let modelName = "note"
    static let schemaVersion = 2
    let id: Int
    var title: String
    var stars: String
    var isRead: Bool
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }

    static func migrate(_ old: ArchiveTree, from version: Int) throws -> ArchiveTree? {
        guard version == 1 else { return nil }
        var tree = old
        guard let root = tree.roots.first?.value, case .reference(let place) = root,
            var note = tree.instance(root),
            let text = note.fields.firstIndex(where: { $0.name == "text" }),
            let stars = note.fields.firstIndex(where: { $0.name == "stars" }),
            case .integer(let count)? = tree.scalar(note.fields[stars].value)
        else { return nil }
        note.fields[text] = ArchiveTree.Field(key: "title", value: note.fields[text].value)
        note.fields[stars] = ArchiveTree.Field(key: "stars", value: .reference(tree.objects.count))
        tree.objects.append(.value(.string("\(count)")))
        note.fields.append(ArchiveTree.Field(key: "isRead", value: .bool(false)))
        tree.objects[place] = .instance(note)
        return tree
    }
}

/// The first version with a field more, which stored ones lack, and without another `schemaVersion`.
private struct RatedNote: CachedModel {
    static let modelName = "note"
    let id: Int
    var text: String
    var rating: Int
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
}

/// Version 2 with the fields of version 1, which counts its migrations.
private struct CountedNote: CachedModel {
    static let migrations = Atomic(0)
    static let modelName = "note"
    static let schemaVersion = 2
    let id: Int
    var text: String
    static func request(for id: Int) -> ModelRequest { .get("/notes/\(id)") }
    static func migrate(_ old: ArchiveTree, from version: Int) throws -> ArchiveTree? {
        migrations.add(1, ordering: .relaxed)
        return old
    }
}

@Suite struct SchemaTests {
    private func with<Model: CachedModel>(
        _ type: Model.Type,
        _ directory: TemporaryDirectory,
        failures: Failures = Failures(),
        _ body: (Models) async throws -> Void
    ) async throws {
        let models = try await Models(
            account: "a",
            types: [type],
            directory: directory.url,
            transport: nil,
            onFailure: { failures.add($0) }
        )
        try await body(models)
        try await models.close()
    }

    @Test func anotherSchemaIsAMissOrMigratedAndNothingIsDeletedUntilItIsSavedOver() async throws {
        let directory = try TemporaryDirectory()
        try await with(FirstNote.self, directory) { models in
            try await models.save([FirstNote(id: 1, text: "one"), FirstNote(id: 2, text: "two")])
        }
        try await with(SecondNote.self, directory) { models in
            let found1 = try await models.stored(SecondNote.self, id: 1)
            #expect(found1 == nil)
            await expect(.noTransport) { _ = try await models.fetch(SecondNote.self, id: 1) }
            try await models.save(SecondNote(id: 2, title: "zwei"))
        }
        // The older version again: its own is there, the newer one is a miss.
        try await with(FirstNote.self, directory) { models in
            let found2 = try await models.stored(FirstNote.self, id: 1)
            #expect(found2?.value.text == "one")
            let found3 = try await models.stored(FirstNote.self, id: 2)
            #expect(found3 == nil)
        }
        try await with(ThirdNote.self, directory) { models in
            let found = try await models.stored(ThirdNote.self, ids: [1, 2]).mapValues(\.value)
            #expect(
                found == [
                    1: ThirdNote(id: 1, title: "one", length: 3), 2: ThirdNote(id: 2, title: "zwei", length: 4),
                ]
            )
        }
    }

    @Test func aMigrationRenamesAFieldGivesOneAnotherTypeAndAddsOne() async throws {
        let directory = try TemporaryDirectory()
        try await with(StarredNote.self, directory) { models in
            try await models.save([
                StarredNote(id: 1, text: "one", stars: 3), StarredNote(id: 2, text: "two", stars: -1),
            ])
        }
        try await with(ReadNote.self, directory) { models in
            let found = try await models.stored(ReadNote.self, ids: [1, 2]).mapValues(\.value)
            #expect(found[1] == ReadNote(id: 1, title: "one", stars: "3", isRead: false))
            #expect(found[2] == ReadNote(id: 2, title: "two", stars: "-1", isRead: false))
        }
    }

    @Test func aStoredModelThatItsTypeRefusesIsReportedOnce() async throws {
        let directory = try TemporaryDirectory()
        try await with(FirstNote.self, directory) { models in
            try await models.save([FirstNote(id: 1, text: "one"), FirstNote(id: 2, text: "two")])
        }
        let failures = Failures()
        try await with(RatedNote.self, directory, failures: failures) { models in
            for _ in 0..<3 {
                let one = try await models.stored(RatedNote.self, id: 1)
                let both = try await models.stored(RatedNote.self, ids: [1, 2])
                #expect(one == nil && both.isEmpty)
            }
        }
        #expect(failures.all.map(\.code) == [.decodingFailed, .decodingFailed])
        #expect(failures.all.compactMap(\.subject?.key).sorted() == ["1", "2"])
        for failure in failures.all { #expect(failure.message.contains("rating"), "\(failure)") }
    }

    @Test func aModelOfAnotherVersionThatIsNotMigratedIsReported() async throws {
        let directory = try TemporaryDirectory()
        try await with(FirstNote.self, directory) { try await $0.save(FirstNote(id: 1, text: "one")) }
        let failures = Failures()
        try await with(SecondNote.self, directory, failures: failures) { models in
            let found = try await models.stored(SecondNote.self, id: 1)
            #expect(found == nil)
        }
        #expect(
            failures.all.map(\.message) == [
                "the stored note 1 cannot be read, and counts as missing: saved with schema version 1"
            ]
        )
    }

    @Test func aModelIsMigratedOnce() async throws {
        let directory = try TemporaryDirectory()
        try await with(FirstNote.self, directory) { models in
            try await models.save([FirstNote(id: 1, text: "one"), FirstNote(id: 2, text: "two")])
        }
        for _ in 0..<2 {
            try await with(CountedNote.self, directory) { models in
                let notes = [1: CountedNote(id: 1, text: "one"), 2: CountedNote(id: 2, text: "two")]
                let first = try await models.stored(CountedNote.self, ids: [1, 2]).mapValues(\.value)
                await models.flush()
                models.trimMemory(toCount: 0)
                let again = try await models.stored(CountedNote.self, ids: [1, 2]).mapValues(\.value)
                #expect(first == notes && again == notes)
            }
        }
        #expect(CountedNote.migrations.load(ordering: .relaxed) == 2)
    }

    /// Otherwise they would bring its directory back.
    @Test func anAccountWhoseObjectHasGoneIsErasedBehindItsMigrations() async throws {
        let directory = try TemporaryDirectory()
        try await with(FirstNote.self, directory) { try await $0.save(FirstNote(id: 1, text: "one")) }
        let gate = DispatchSemaphore(value: 0)
        func readOnce() async throws {
            let models = try await Models(
                account: "a",
                types: [ThirdNote.self],
                directory: directory.url,
                transport: nil
            )
            models.engine.tables.account.writer.add(0) { gate.wait() }
            let found = try await models.stored(ThirdNote.self, id: 1)
            #expect(found?.value.title == "one")
        }
        try await readOnce()
        let erasures = Recorder<Void>()
        let erasure = Task { [directory] in
            try await Models.erase(account: "a", directory: directory.url)
            erasures.add(())
        }
        try await Task.sleep(for: .milliseconds(100))
        #expect(erasures.all.isEmpty)
        gate.signal()
        try await erasure.value
        let path = directory.url.path(percentEncoded: false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == [])
    }

    @Test func aRenamedTypeReadsItsEntries() async throws {
        let directory = try TemporaryDirectory()
        try await with(FirstNote.self, directory) { try await $0.save(FirstNote(id: 1, text: "one")) }
        try await with(RenamedNote.self, directory) { models in
            let found4 = try await models.stored(RenamedNote.self, id: 1)
            #expect(found4?.value.text == "one")
        }
    }

    @Test func damagedEntriesAreMisses() async throws {
        let directory = try TemporaryDirectory()
        try await with(FirstNote.self, directory) { try await $0.save(FirstNote(id: 1, text: "one")) }
        // Something else under the model's name.
        let cache = try Cache<String>(name: "note", directory: directory.url.appending(path: "a"))
        try await cache.save("no note", forKey: "1")
        try await cache.close()
        try await with(FirstNote.self, directory) { models in
            let found5 = try await models.stored(FirstNote.self, id: 1)
            #expect(found5 == nil)
            try await models.save(FirstNote(id: 1, text: "again"))
            let found6 = try await models.stored(FirstNote.self, id: 1)
            #expect(found6?.value.text == "again")
        }
    }
}

/// Limits of each type.
@Suite struct RoomTests {
    private struct Small: CachedModel {
        static let modelName = "small"
        static let policy = ModelPolicy(memory: MemorySettings(byteLimit: .kibibytes(16)), disk: .kibibytes(256))
        let id: Int
        var text: String
        static func request(for id: Int) -> ModelRequest { .get("/small/\(id)") }
    }

    private struct Smalls: ModelList {
        typealias Element = Small
        var listKey: String { "smalls" }
        func request(after cursor: PageCursor?) -> ModelRequest { .get("/smalls") }
    }

    private func byteCount(of folder: URL) throws -> Int {
        let place = folder.path(percentEncoded: false)
        return try FileManager.default.subpathsOfDirectory(atPath: place).reduce(into: 0) { count, file in
            do {
                let attributes = try FileManager.default.attributesOfItem(atPath: place + "/" + file)
                // Directories of the store of files have a size, too, which no limit counts.
                guard attributes[.type] as? FileAttributeType == .typeRegular else { return }
                count += attributes[.size] as? Int ?? 0
            } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
                // Evicted in the background by now.
            }
        }
    }

    @Test func aTypeAtItsLimitCostsNoOtherTypeAndListsSayTheirHoles() async throws {
        let directory = try TemporaryDirectory()
        let server = StubTransport()
        let first = (0..<20).map { Small(id: $0, text: "first") }
        server.answer("/smalls", try .json(first))
        let models = try await Models(
            account: "a",
            types: [Small.self, User.self],
            directory: directory.url,
            transport: server,
            clock: ManualClock()
        )
        let users = (0..<50).map { User(id: $0, name: "\($0)", bio: "b") }
        try await models.save(users)
        _ = try await models.fetch(Smalls())
        var random = SeededGenerator(seed: 1)
        for first in stride(from: 1_000, to: 2_500, by: 50) {
            for id in first..<first + 50 {
                // Text that does not shrink by much.
                let text = Data(random.bytes(450)).base64EncodedString()
                try await models.save(Small(id: id, text: text))
            }
            await models.flush()
            // Entries, and the index beside them.
            let byteCount = try byteCount(of: directory.url.appending(path: "a/small"))
            #expect(byteCount < 2 * 256 * 1_024, "before \(first + 50)")
        }
        let list = try #require(try await models.stored(Smalls()))
        #expect(list.elements.count + list.holes.count == 20)
        #expect(!list.holes.isEmpty)
        #expect(list.freshness == .stale(since: nil, because: .holes))
        #expect(try await models.stored(User.self, ids: 0..<50).count == 50)
        try await models.close()
    }

    @Test func readingAListKeepsItsMembersFromExpiring() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        let models = try await stage.open()
        _ = try await models.fetch(Feed(topic: "swift"))
        try await models.save(Article(id: 2, title: "unread", author: ModelLink(7)))
        for _ in 0..<4 {
            stage.clock.advance(by: .seconds(20 * 86_400))
            #expect(try await models.stored(Feed(topic: "swift"))?.elements.count == 1)
        }
        #expect(try await models.stored(Article.self, id: 2) == nil)
    }
}
