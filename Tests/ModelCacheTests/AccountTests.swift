import Foundation
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// Accounts, and how they end.
@Suite struct AccountTests {
    private func files(_ stage: borrowing Stage) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: stage.directory.url.path(percentEncoded: false))
            .sorted()
    }

    @Test func anErasedAccountIsGoneAndNothingThatIsUnderWayBringsItBack() async throws {
        let stage = try Stage()
        let other = try await stage.open(account: "other")
        try await other.save(User(id: 1, name: "other", bio: "b"))
        try await other.close()
        let before = try files(stage)

        let models = try await stage.open()
        try await models.save((1...100).map { User(id: $0, name: "\($0)", bio: "b") })
        stage.server.answerUser(500, "late")
        stage.server.hold("/users/500")
        let load = Task { try await models.fetch(User.self, id: 500) }
        await stage.server.requested(1)
        let gate = Gate()
        let change = Task {
            try await models.change {
                $0.save(User(id: 600, name: "late", bio: "b"))
            } sending: {
                await gate.pass()
            }
        }
        await gate.reached()
        let observer = Task {
            var last: User?
            for await snapshot in models.updates(of: User.self, id: 1) { last = snapshot?.value }
            return last
        }
        let saves = Task { () async -> (any Error)? in
            for id in 1_000..<100_000 {
                do { try await models.save(User(id: id, name: "\(id)", bio: "b")) } catch { return error }
            }
            return nil
        }
        try await models.erase()
        #expect(try files(stage) == before)
        stage.server.release("/users/500")
        gate.open()
        await expect(.closed) { _ = try await change.value }
        await #expect(throws: (any Error).self) { try await load.value }
        _ = await observer.value
        #expect((await saves.value as? ModelCacheError)?.code == .closed)
        await models.settle()
        #expect(try files(stage) == before)
        await expect(.closed) { _ = try await models.stored(User.self, id: 1) }
        await expect(.closed) { try await models.save(User(id: 1, name: "a", bio: "b")) }

        // The same account again is empty, the other one untouched.
        let again = try await stage.open()
        #expect(try await again.stored(User.self, id: 1) == nil)
        let later = try await stage.open(account: "other")
        #expect(try await later.stored(User.self, id: 1)?.value.name == "other")
    }

    @Test func aLaterOpeningFinishesAnErasureThatWasInterrupted() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "a", bio: "b"))
        try await models.close()
        // As a process leaves it that was killed while it deleted.
        let left = stage.directory.url.appending(path: ".erased-\(UUID().uuidString)")
        try FileManager.default.moveItem(at: stage.directory.url.appending(path: "42"), to: left)
        let other = try await stage.open(account: "other")
        await other.flush()
        #expect(!FileManager.default.fileExists(atPath: left.path(percentEncoded: false)))
    }

    /// Both find files gone that the other one has deleted, and each of them returns when none is left.
    @Test func twoOpeningsThatFinishTheSameErasureLeaveNothing() throws {
        let stage = try Stage()
        let root = stage.directory.url
        let directory = try AccountDirectory(account: "42", in: root)
        for _ in 0..<20 {
            let left = root.appending(path: ".erased-\(UUID().uuidString)")
            for name in 0..<4 {
                let part = left.appending(path: "\(name)")
                try FileManager.default.createDirectory(at: part, withIntermediateDirectories: true)
                for file in 0..<20 { try Data([1]).write(to: part.appending(path: "\(file)")) }
            }
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { _ in
                if let failure = directory.deleteErased() { failures.withLock { $0.append("\(failure)") } }
                if FileManager.default.fileExists(atPath: left.path(percentEncoded: false)) {
                    failures.withLock { $0.append("files are left") }
                }
            }
            #expect(failures.withLock { $0 } == [])
        }
    }

    @Test func anAccountThatCannotBeOpenedIsErased() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "a", bio: "b"))
        try await models.close()
        let other = try await stage.open(account: "other")
        try await other.close()
        let format = stage.directory.url.appending(path: "42/$bookkeeping/format")
        try Data("of a newer version".utf8).write(to: format)
        await expect(.storage) { _ = try await stage.open() }
        // As a process leaves it that was killed while it deleted another account.
        let left = stage.directory.url.appending(path: ".erased-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)

        try await Models.erase(account: "42", directory: stage.directory.url)
        let path = stage.directory.url.path(percentEncoded: false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["other"])
        let again = try await stage.open()
        #expect(try await again.stored(User.self, id: 1) == nil)
        // There is none of this name.
        try await Models.erase(account: "nobody", directory: stage.directory.url)
        await expect(.invalidAccount) { try await Models.erase(account: "", directory: stage.directory.url) }
    }

    /// Answers nothing.
    private struct Silent: ModelTransport {
        func send(_ request: ModelRequest) async throws -> ModelResponse {
            while true { try await Task.sleep(for: .seconds(3_600)) }
        }
    }

    @Test func aLoadInTheBackgroundEndsWithADroppedObject() async throws {
        let directory = try TemporaryDirectory()
        for launch in 1...2 {
            // A closure after the call is told failures.
            let models = try await Models(
                account: "42",
                types: [User.self],
                directory: directory.url,
                transport: Silent()
            ) { error in
                Issue.record(error)
            }
            if launch == 2 { return try await models.close() }
            try await models.save(User(id: 1, name: "a", bio: "b"))
            try await models.invalidate(.everything)
            _ = try await models.fetch(User.self, id: 1, .staleWhileRevalidate)
        }
    }

    @Test func anAccountIsOpenOnceInAProcess() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "a", bio: "b"))
        await expect(.accountInUse) { _ = try await stage.open() }
        await expect(.accountInUse) {
            try await Models.erase(account: "42", directory: stage.directory.url)
        }
        // By another way.
        let link = stage.directory.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: stage.directory.url)
        await expect(.accountInUse) {
            _ = try await Models(account: "42", types: [User.self], directory: link, transport: nil)
        }
        #expect(try await models.stored(User.self, id: 1)?.value.name == "a")
        let other = try await stage.open(account: "other")
        try await other.erase()

        try await models.close()
        let later = try await stage.open()
        // Closing twice does not give up the later one's account.
        try await models.close()
        await expect(.accountInUse) { _ = try await stage.open() }
        try await later.erase()
        let last = try await stage.open()
        try await last.close()
    }

    /// Erasing it would leave the account's files, or delete files of another owner.
    @Test func anAccountWhoseDirectoryIsALinkIsRefused() async throws {
        let stage = try Stage()
        let away = stage.directory.url.appending(path: "away")
        try FileManager.default.createDirectory(at: away, withIntermediateDirectories: true)
        try Data([1]).write(to: away.appending(path: "file"))
        let root = stage.directory.url.appending(path: "accounts")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        let link = root.appending(path: "42", directoryHint: .notDirectory)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: away)
        await expect(.storage) {
            _ = try await Models(account: "42", types: [User.self], directory: root, transport: nil)
        }
        await expect(.storage) { try await Models.erase(account: "42", directory: root) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: away.path(percentEncoded: false)) == ["file"])
        try FileManager.default.removeItem(at: link)
        let models = try await Models(account: "42", types: [User.self], directory: root, transport: nil)
        try await models.erase()
    }

    @Test func anAccountWhoseObjectHasGoneIsOpenedAgain() async throws {
        let stage = try Stage()
        func useOnce() async throws {
            let models = try await stage.open()
            try await models.save(User(id: 1, name: "a", bio: "b"))
        }
        try await useOnce()
        var found: ModelSnapshot<User>?
        // A thread may still be about to let go of it.
        func isFound() async -> Bool {
            do {
                found = try await stage.open().stored(User.self, id: 1)
                return true
            } catch {
                #expect(ModelCacheError.Code.accountInUse ~= error)
                return false
            }
        }
        try await wait(until: await isFound())
        #expect(found?.value.name == "a")
    }

    @Test func accountsOfAnyNameAreApart() async throws {
        let stage = try Stage()
        let names = ["bob", "Bob", "../bob", "a/b", ".hidden", "b%6fb", "ö", "bob@example.org", "a b"]
        for name in names {
            let models = try await stage.open(account: name)
            try await models.save(User(id: 1, name: name, bio: "b"))
            try await models.close()
        }
        for name in names {
            let models = try await stage.open(account: name)
            #expect(try await models.stored(User.self, id: 1)?.value.name == name)
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stage.directory.url.path(percentEncoded: false))
                .count == names.count
        )
    }

    @Test func closingKeepsEverythingThatWasLoadedAndSaved() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answer(
            "/articles?topic=swift",
            .json(
                "{\"items\": ["
                    + (0..<500).map { "{\"id\": \($0), \"title\": \"t\", \"author\": \($0)}" }.joined(
                        separator: ","
                    ) + "]}"
            )
        )
        _ = try await models.fetch(Feed(topic: "swift"))
        try await models.close()
        await expect(.closed) { _ = try await models.stored(Article.self, id: 1) }
        let later = try await stage.open()
        let feed = try await later.stored(Feed(topic: "swift"))
        #expect(feed?.elements.count == 500)
        #expect(feed?.holes == [])
    }
}
