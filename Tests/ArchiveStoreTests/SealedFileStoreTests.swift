import Foundation
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// A thief has the files of an encrypted file store, but not its key.
@Suite(.enabled(if: CipherAlgorithm.isAvailable)) struct SealedFileStoreTests {
    // MARK: Visible without a key

    private static let marker = "MarkerToFind"
    /// In seconds since 2001-01-01 UTC.
    private static let deadline = 912_345_678.25

    private static func key(_ number: Int) -> String { "\(marker) key \(number)" }
    private static func tag(_ number: Int) -> String { "\(marker) tag \(number % 100)" }

    /// Saves entries whose keys, tags, deadlines and archives are markers, with all that a store does to them; gives the files
    /// while it is open, and after it was closed.
    private func plant(_ keys: KeyProvider?, count: Int) throws -> [[String: [UInt8]]] {
        var states: [[String: [UInt8]]] = []
        try withTemporaryDirectory(inMemory: true) { path in
            let store = try SealedFolder.openFiles(path, keys) { $0.countLimit = count * 3 / 4 }
            let follower = try SealedFolder.openFiles(path, keys) { $0.followsOthers = true }
            let deadline = Date(timeIntervalSinceReferenceDate: Self.deadline)
            for number in 0..<count {
                var attributes = EntryAttributes(storedAt: .now, expiresAt: deadline)
                attributes.tags = [Self.tag(number)]
                let archive = Array("{ \"name\": \"\(Self.marker) value \(number)\", \"is\": true }".utf8)
                try store.save(archive, forKey: Self.key(number), attributes: attributes, if: nil)
                if number % 3 == 0 { try store.remove(forKey: Self.key(number / 2)) }
            }
            _ = try follower.changesByOthers()
            #expect(try follower.fetch(forKey: Self.key(count - 1)) != nil)
            // One is damaged, and goes to quarantine.
            let files = try SealedFolder.files(path)
            let name = try #require(files.keys.first { EntryName.shard(String($0.prefix(2))) != nil })
            try writeFile(
                files[name].map { $0.dropLast(20) + [UInt8](repeating: 1, count: 20) } ?? [],
                path + "/" + name
            )
            #expect(try store.removeDamagedEntries() == 1)
            states.append(try SealedFolder.files(path))
            try store.removeAll(tagged: Self.tag(1)) { _ in }
            try store.compact()
            try store.trim(toByteCount: 100_000) { _ in }
            states.append(try SealedFolder.files(path))
            try follower.close()
            try store.close()
            states.append(try SealedFolder.files(path))
        }
        return states
    }

    /// The bytes that tell of entries 0 to 200 where the names have no secret key.
    private static func nameParts() throws -> [Data] {
        var parts: [Data] = []
        for number in 0..<200 {
            for name in [EntryName(try StoreKey(key(number))), EntryName(hashing: Array(tag(number).utf8))] {
                var bytes: [UInt8] = []
                name.write(to: &bytes)
                parts += [Data(bytes), Data(name.fileName(slot: 0).utf8.prefix(30)), Data(name.digits.utf8)]
            }
        }
        return parts
    }

    private static let textParts = [marker, "{ \"name\"", "\"is\": true"].map { Data($0.utf8) }
    private static var deadlinePart: Data {
        withUnsafeBytes(of: deadline.bitPattern.bigEndian) { Data($0) }
    }

    @Test func noMarkerIsInAnyFile() throws {
        let states = try plant(.of(TrialKeys.one), count: 10_000)
        let names = Set(states.flatMap(\.keys))
        for kind in ["journal", "names", ".wheel/", ".tags/", ".quarantine/"] {
            #expect(names.contains { $0.hasPrefix(kind) }, "\(kind)")
        }
        let words = try Set(Self.nameParts())
        for (name, bytes) in states.flatMap({ $0 }) {
            let data = Data(bytes)
            for part in Self.textParts + [Self.deadlinePart] { #expect(data.range(of: part) == nil, "\(name)") }
            if name == "journal" || name.hasPrefix(".wheel/") || name.hasPrefix(".tags/") {
                let step = name == "journal" ? JournalRecord.byteCount : EntryName.byteCount
                for start in stride(from: 0, to: data.count - 15, by: step) {
                    #expect(!words.contains(data[start..<start + 16]), "\(name)")
                }
            }
            #expect(!name.contains("Marker"))
        }
        for name in names {
            let last = name.split(separator: "/").last.map(String.init) ?? ""
            #expect(!words.contains(Data(last.utf8.prefix(30))) && !words.contains(Data(last.utf8)), "\(name)")
            // Neither the time of a deadline.
            #expect(WheelBucket(last) == nil, "\(name)")
        }
    }

    /// The same search finds them where nothing is encrypted.
    @Test func theSearchFindsMarkers() throws {
        let states = try plant(nil, count: 300)
        let entries = states[0].filter { EntryName.shard(String($0.key.prefix(2))) != nil }
        for part in [Self.textParts[0], Self.deadlinePart] {
            #expect(entries.contains { Data($0.value).range(of: part) != nil })
        }
        let words = try Set(Self.nameParts())
        let names = Set(states.flatMap(\.keys)).compactMap { $0.split(separator: "/").last }
        #expect(names.contains { words.contains(Data($0.utf8.prefix(30))) })
        #expect(names.contains { words.contains(Data($0.utf8)) })
        #expect(names.contains { WheelBucket(String($0)) != nil })
        let journal = Data(try #require(states[0]["journal"]))
        #expect(words.contains { $0.count == 16 && journal.range(of: $0) != nil })
    }

    /// Nor is one in a draft that a killed process leaves.
    @Test func noMarkerIsInADraft() throws {
        try withTemporaryDirectory { path in
            let drafts = Mutex<[Data]>([])
            let layer = FileLayer { call in
                if call.operation == .rename, call.name.contains(".") {
                    let bytes = FileManager.default.contents(atPath: path + "/.drafts/" + call.name)
                    drafts.withLock { $0.append(bytes ?? Data()) }
                }
                return .proceed
            }
            let settings = SealedFolder.settings()
            let store = try FileStore(directory: path, create: true, settings: settings, layer: layer, naming: nil)
            let large = (0..<30_000).flatMap { Array("\(Self.marker) \($0 &* 2_654_435_761)".utf8) }
            try store.save(Array(Self.marker.utf8), forKey: Self.marker, storedAt: .now, expiresAt: nil)
            try store.save(large, forKey: Self.marker + "2", storedAt: .now, expiresAt: nil)
            // Large, and stored as it is.
            var generator = SeededGenerator(seed: 1)
            let random = Array(Self.marker.utf8) + generator.bytes(1 << 20)
            try store.save(random, forKey: Self.marker + "3", storedAt: .now, expiresAt: nil)
            #expect(try store.fetch(forKey: Self.marker + "3")?.archive == random)
            #expect(try store.fetch(forKey: Self.marker + "2")?.archive == large)
            let found = drafts.withLock { $0 }
            #expect(found.count >= 4 && found.allSatisfy { !$0.isEmpty })
            for draft in found { #expect(draft.range(of: Data(Self.marker.utf8)) == nil) }
        }
    }

    // MARK: Other keys

    /// The names of all files and folders.
    private func names(_ path: String) throws -> Set<String> {
        Set(try FileManager.default.subpathsOfDirectory(atPath: path))
    }

    /// Whichever key is wrong or missing, opening says so, and nothing is touched.
    @Test(arguments: [false, true]) func otherKeysTouchNothing(create: Bool) throws {
        try withTemporaryDirectory { path in
            let store = try SealedFolder.openFiles(path)
            for number in 0..<50 {
                try store.save([UInt8(number)], forKey: "\(number)", storedAt: .now, expiresAt: nil)
            }
            try store.close()
            let before = try SealedFolder.files(path)
            let namesBefore = try names(path)
            let providers: [KeyProvider?] = [
                nil, .of(TrialKeys.two), .of(TrialKeys.key(1, variant: 1)), .of(TrialKeys.two, TrialKeys.key(3)),
                KeyProvider { throw CancellationError() },
            ]
            for (number, keys) in providers.enumerated() {
                #expect(
                    code { _ = try SealedFolder.openFiles(path, keys, create: create) } == .locked,
                    "\(number)"
                )
                #expect(try SealedFolder.files(path) == before, "\(number)")
                #expect(try names(path) == namesBefore, "\(number)")
                // Nor without a marker.
                let files = before.filter { $0.key != "format" }
                let copy = path + "/../\(UUID().uuidString)"
                try SealedFolder.write(files, to: copy)
                let copied = try names(copy)
                #expect(
                    code { _ = try SealedFolder.openFiles(copy, keys, create: create) } == .locked,
                    "\(number)"
                )
                #expect(try SealedFolder.files(copy) == files && names(copy) == copied, "\(number)")
                try removeDirectory(copy)
            }
            let again = try SealedFolder.openFiles(path, create: create)
            #expect(try again.fetch(forKey: "7")?.archive == [7])
        }
    }

    /// Nothing is touched by a store that is open either, when it meets an entry with a key that it does not have.
    @Test func entriesWithAnotherKeyStay() throws {
        try withTemporaryDirectory { path in
            let store = try SealedFolder.openFiles(path)
            try store.save([1], forKey: "former", storedAt: .now, expiresAt: nil)
            let rotated = try SealedFolder.openFiles(path, .of(TrialKeys.two, TrialKeys.one))
            var attributes = EntryAttributes(storedAt: .distantPast, expiresAt: .distantPast)
            attributes.tags = ["tag"]
            try rotated.save([2], forKey: "new", attributes: attributes, if: nil)
            let before = try SealedFolder.files(path).filter { EntryName.shard(String($0.key.prefix(2))) != nil }
            #expect(code { _ = try store.fetch(forKey: "new") } == .locked)
            #expect(code { _ = try store.peek(forKey: "new") } == .locked)
            #expect(code { _ = try store.information(forKey: "new") } == .locked)
            #expect(code { try store.save([4], forKey: "new", storedAt: .now, expiresAt: nil) } == .locked)
            #expect(code { _ = try store.remove(forKey: "new") } == .locked)
            #expect(code { try store.removeAll(tagged: "tag") { _ in } } == .locked)
            #expect(code { _ = try store.compact() } == .locked)
            try store.removeExpired(at: .now) { _ in }
            #expect(try store.removeDamagedEntries() == 0)
            var found: [Result<EntryInformation, StoreError>] = []
            try store.forEachEntry { entry in
                found.append(entry)
                return true
            }
            #expect(found.count == 2)
            #expect(
                try SealedFolder.files(path).filter { EntryName.shard(String($0.key.prefix(2))) != nil } == before
            )
            #expect(try rotated.fetch(forKey: "new")?.archive == [2])
            // The lists still lead to it.
            var removed: [String] = []
            try rotated.removeAll(tagged: "tag") { removed.append($0.key) }
            #expect(removed == ["new"])
        }
    }

    /// A store that is not encrypted is none for which there is a key, and keeps none that is.
    @Test func filesThatAreNotEncryptedAreRefused() throws {
        for missing in ["none", "format"] {
            try withTemporaryDirectory { path in
                let plain = try SealedFolder.openFiles(path, nil)
                try plain.save([1, 2, 3], forKey: "key", storedAt: .now, expiresAt: nil)
                try plain.close()
                if missing == "format" { try FileManager.default.removeItem(atPath: path + "/format") }
                let before = try SealedFolder.files(path)
                #expect(code { _ = try SealedFolder.openFiles(path) } == .locked)
                #expect(try SealedFolder.files(path) == before)
            }
        }
    }

    // MARK: Names

    /// Of processes that make a store at once, all have the names of the first.
    @Test func oneFileOfNamesIsMade() throws {
        for _ in 0..<20 {
            try withTemporaryDirectory(inMemory: true) { path in
                let stores = Mutex<[Int: FileStore]>([:])
                DispatchQueue.concurrentPerform(iterations: 6) { number in
                    guard let store = try? SealedFolder.openFiles(path + "/cache") else { return }
                    try? store.save([UInt8(number)], forKey: "\(number)", storedAt: .now, expiresAt: nil)
                    stores.withLock { $0[number] = store }
                }
                let opened = stores.withLock { $0 }
                #expect(opened.count == 6)
                for store in opened.values {
                    let found = try (0..<6).map { try store.fetch(forKey: "\($0)")?.archive }
                    #expect(found == (0..<6).map { [UInt8($0)] })
                }
            }
        }
    }

    @Test func twoStoresOfOneKeyHaveOtherNames() throws {
        try withTemporaryDirectory { path in
            var names: [Set<String>] = []
            for folder in ["a", "b"] {
                let store = try SealedFolder.openFiles(path + "/" + folder)
                for number in 0..<20 { try store.save([1], forKey: "\(number)", storedAt: .now, expiresAt: nil) }
                names.append(
                    Set(
                        try SealedFolder.files(store.path).keys.filter {
                            EntryName.shard(String($0.prefix(2))) != nil
                        }
                    )
                )
            }
            #expect(names[0].count == 20 && names[0].isDisjoint(with: names[1]))
        }
    }

    /// Without its names a store is empty: its former entries count as damaged.
    @Test func lostNamesEmptyTheStore() throws {
        try withTemporaryDirectory { path in
            let store = try SealedFolder.openFiles(path)
            try store.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            try FileManager.default.removeItem(atPath: path + "/names")
            #expect(try store.fetch(forKey: "key")?.archive == [1])
            #expect(try store.fetch(forKey: "none") == nil)
            #expect(code { _ = try SealedFolder.openFiles(path, create: false) } == .io)
            // A store that is open changes over to the new names at its next save.
            let next = try SealedFolder.openFiles(path)
            #expect(try next.fetch(forKey: "key") == nil)
            try store.save([2], forKey: "key", storedAt: .now, expiresAt: nil)
            #expect(try next.fetch(forKey: "key")?.archive == [2])
            try next.save([3], forKey: "other", storedAt: .now, expiresAt: nil)
            #expect(try store.fetch(forKey: "other")?.archive == [3])
            #expect(try next.removeDamagedEntries() == 1)
            #expect(try next.fetch(forKey: "key")?.archive == [2])
        }
    }

    @Test func bucketsAreReadBack() throws {
        var generator = SeededGenerator(seed: 5)
        let secret = SecretBytes(generator.bytes(32))
        let (keys, others) = (NameKeys(secret: secret, salt: [1]), NameKeys(secret: secret, salt: [2]))
        for _ in 0..<1_000 {
            let deadline = Double.random(in: -1e15...1e15, using: &generator)
            let now = deadline - .random(in: 0...1e9, using: &generator)
            let bucket = WheelBucket(deadline: deadline, now: now)
            let list = keys.list(of: bucket)
            #expect(keys.bucket(of: list) == bucket && others.bucket(of: list) == nil)
            #expect(list.count == 32 && list != others.list(of: bucket))
        }
        for list in ["", "listed", "0-1", String(repeating: "0", count: 32), String(repeating: "é", count: 16)] {
            #expect(keys.bucket(of: list) == nil)
        }
    }

    /// Memory is told of changes by the names that keys have.
    @Test func changesByOthersAreTold() throws {
        try withTemporaryDirectory { path in
            let writer = try SealedFolder.openFiles(path)
            let follower = try SealedFolder.openFiles(path) { $0.followsOthers = true }
            guard case .everything = try follower.changesByOthers() else {
                Issue.record("the journal was followed before")
                return
            }
            try writer.save([1], forKey: "key", storedAt: .now, expiresAt: nil)
            guard case .keys(let changed) = try follower.changesByOthers() else {
                Issue.record("the change was not told")
                return
            }
            #expect(Set(changed) == [follower.digest(of: "key")])
            #expect(follower.digest(of: "key") == writer.digest(of: "key"))
            #expect(follower.digest(of: "key") != KeyDigest(hashing: "key"))
        }
    }
}
