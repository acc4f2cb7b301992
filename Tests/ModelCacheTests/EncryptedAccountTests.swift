import Foundation
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// Whether this build encrypts.
private enum Encryption {
    static let isAvailable: Bool = {
        let settings = CacheSettings<String>(disk: DiskSettings(encryption: .key(EncryptionKey.random().key)))
        let cache = try? TemporaryDirectory()
        return cache.flatMap { try? Cache<String>(name: "a", directory: $0.url, settings: settings) } != nil
    }()
}

/// Accounts whose files are encrypted, and whose keys are forgotten.
@Suite(.enabled(if: Encryption.isAvailable)) struct EncryptedAccountTests {
    private let directory: TemporaryDirectory
    private static let marker = "Elisabeth Nkomo"

    init() throws { directory = try TemporaryDirectory() }

    private var root: URL { directory.url.appending(path: "models") }
    private var key: AccountKey { AccountKey(account: "42", folder: directory.url.appending(path: "keys")) }

    private func open(_ encryption: AccountEncryption, in root: URL? = nil) async throws -> Models {
        try await Models(
            account: "42",
            types: [User.self, Comment.self],
            directory: root ?? self.root,
            encryption: encryption,
            transport: nil
        )
    }

    private func fill(_ encryption: AccountEncryption) async throws -> Models {
        let models = try await open(encryption)
        try await models.save((1...20).map { User(id: $0, name: "\(Self.marker) \($0)", bio: "b") })
        // Keys are not deflated.
        try await models.save([Comment(id: Self.marker, text: "text", author: ModelLink(1))])
        await models.flush()
        return models
    }

    private func name(_ models: Models, _ id: Int = 7) async throws -> String? {
        try await models.stored(User.self, id: id)?.value.name
    }

    /// Whether any file has the marker in it.
    private func isReadable(_ folder: URL) throws -> Bool {
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let bytes = FileManager.default.contents(atPath: folder.appending(path: path).path)
            if bytes?.range(of: Data(Self.marker.utf8)) != nil { return true }
        }
        return false
    }

    @Test func thePageHasTheCodeThatRuns() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let page = tests.appending(path: "../../Sources/ModelCache/ModelCache.docc/EncryptedAccounts.md")
        let code = try String(contentsOf: tests.appending(path: "AccountKey.swift"), encoding: .utf8)
        let blocks = try String(contentsOf: page, encoding: .utf8).split(separator: "```").enumerated()
            .filter { $0.offset % 2 == 1 }.map { $0.element.dropFirst("swift\n".count) }
        let own = blocks.filter { !$0.contains("AccountKey(account: name)") }
        #expect(own.count == 3 && blocks.count == 5)
        for block in own { #expect(code.contains(block), "\(block.prefix(80))") }
    }

    @Test func anAccountHasAKeyOfItsOwn() async throws {
        let models = try await fill(key.encryption)
        #expect(try await name(models) == "\(Self.marker) 7")
        try await models.close()
        #expect(try !isReadable(root))
        let plain = try await fillPlain()
        #expect(try isReadable(plain))
        for wrong in [
            AccountEncryption.none,
            .keys {
                (EncryptionKey.random().key, [])
            } forget: {
            },
        ] {
            await expect(.storage) { _ = try await open(wrong) }
        }
        let again = try await open(key.encryption)
        #expect(try await name(again) == "\(Self.marker) 7")
        try await again.erase()
        #if !canImport(Security)
            #expect(try FileManager.default.contentsOfDirectory(atPath: key.folder.path) == [])
        #endif
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [])
    }

    /// The same, not encrypted: its files show the marker, so the search above can find it.
    private func fillPlain() async throws -> URL {
        let plain = directory.url.appending(path: "plain")
        let models = try await open(.none, in: plain)
        try await models.save([Comment(id: Self.marker, text: "text", author: ModelLink(1))])
        try await models.close()
        return plain
    }

    /// The key goes before the first file: from then on nothing can be read, also after a failure.
    @Test func aFailingRemovalLeavesNothingReadable() async throws {
        let (key, root) = (key, root)
        let aside = directory.url.appending(path: "aside")
        let models = try await fill(
            .keys {
                (current: try key.key(), others: [])
            } forget: {
                try key.forget()
                // A file is where the accounts were: the directory cannot be renamed.
                try FileManager.default.moveItem(at: root, to: aside)
                try Data().write(to: root)
            }
        )
        await expect(.storage) { try await models.erase() }
        // All files of the account are there, and its key is not.
        let left = try FileManager.default.subpathsOfDirectory(atPath: aside.path)
        #expect(left.contains { $0.hasSuffix(".segment") } && left.contains("42/user"))
        try FileManager.default.removeItem(at: root)
        try FileManager.default.moveItem(at: aside, to: root)
        try FileManager.default.removeItem(at: root.appending(path: "42/.erasing"))
        await expect(.storage) { _ = try await open(key.encryption) }
        #expect(try !isReadable(root))
        // The account can be erased again, and is another one then.
        try await Models.erase(account: "42", directory: root, encryption: key.encryption)
        let fresh = try await open(key.encryption)
        #expect(try await name(fresh) == nil)
    }

    /// A process that is killed leaves the files as they are at that moment.
    @Test(arguments: ["before the key is forgotten", "after it"])
    func aProcessThatEndsInBetweenLeavesAnAccountThatIsErasedByTheNextOpening(moment: String) async throws {
        let (key, root) = (key, root)
        let killed = directory.url.appending(path: "killed")
        let models = try await fill(
            .keys {
                (current: try key.key(), others: [])
            } forget: {
                if moment == "after it" { try key.forget() }
                try FileManager.default.copyItem(at: root, to: killed)
                throw Killed()
            }
        )
        let former = try key.key().identifier
        await expect(.storage) { try await models.erase() }
        let next = try await open(key.encryption, in: killed)
        #expect(try await name(next) == nil)
        #expect(try key.key().identifier != former)
        try await next.save([User(id: 7, name: "new", bio: "b")])
        try await next.close()
        let again = try await open(key.encryption, in: killed)
        #expect(try await name(again) == "new")
    }

    private struct Killed: Error {}

    /// A key that is away for a while is not one that was forgotten.
    @Test func anAccountWhoseKeyIsAwayStays() async throws {
        let models = try await fill(key.encryption)
        try await models.close()
        struct Away: Error {}
        await expect(.storage) {
            _ = try await open(
                .keys {
                    throw Away()
                } forget: {
                }
            )
        }
        let again = try await open(key.encryption)
        #expect(try await name(again) == "\(Self.marker) 7")
    }

    @Test func keysThatCannotBeForgottenAreToldAndTheFilesGo() async throws {
        let key = key
        struct Refusal: Error {}
        let models = try await fill(
            .keys {
                (current: try key.key(), others: [])
            } forget: {
                throw Refusal()
            }
        )
        let error = await #expect(throws: ModelCacheError.self) { try await models.erase() }
        #expect(error?.code == .storage && error?.cause is Refusal)
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path) == [])
    }

    @Test func theKeyOfAnOpenAccountChanges() async throws {
        let first = EncryptionKey.random().key
        let second = EncryptionKey.random().key
        let keys = Mutex<[EncryptionKey]>([first])
        let models = try await fill(
            .keys {
                let keys = keys.withLock { $0 }
                return (current: keys[0], others: Array(keys.dropFirst()))
            } forget: {
            }
        )
        try await models.save([Comment(id: "c", text: "text", author: ModelLink(1))])
        await models.flush()
        keys.withLock { $0 = [second, first] }
        #expect(try await models.rekey())
        keys.withLock { $0 = [second] }
        #expect(try await name(models) == "\(Self.marker) 7")
        try await models.close()
        let again = try await open(
            .keys {
                (current: second, others: [])
            } forget: {
            }
        )
        #expect(try await name(again) == "\(Self.marker) 7")
        #expect(try await again.stored(Comment.self, id: "c")?.value.text == "text")
        let plain = try await Models.inMemory(types: [User.self], transport: nil)
        #expect(try await plain.rekey())
    }

    /// The former key can be forgotten although an app was not opened with all types of the stored models.
    @Test func modelsOfOtherTypesGetTheKeyToo() async throws {
        let (first, second) = (EncryptionKey.random().key, EncryptionKey.random().key)
        func encryption(_ keys: EncryptionKey...) -> AccountEncryption {
            .keys {
                (current: keys[0], others: Array(keys.dropFirst()))
            } forget: {
            }
        }
        try await fill(encryption(first)).close()
        let users = try await Models(
            account: "42",
            types: [User.self],
            directory: root,
            encryption: encryption(second, first),
            transport: nil
        )
        #expect(try await users.rekey())
        try await users.close()
        let all = try await open(encryption(second))
        #expect(try await all.stored(Comment.self, id: Self.marker)?.value.text == "text")
        #expect(try await name(all) == "\(Self.marker) 7")
    }
}
