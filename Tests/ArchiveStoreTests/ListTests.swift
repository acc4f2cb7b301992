import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

/// The lists by deadline and by tag: that they find all there is to find, and nothing else is looked at.
@Suite struct ListTests {
    private func save(
        _ key: String,
        in store: FileStore,
        at now: Double = 0,
        until deadline: Double? = nil,
        tags: [String] = []
    ) throws {
        let expiresAt = deadline.map { Date(timeIntervalSinceReferenceDate: $0) }
        var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: now), expiresAt: expiresAt)
        attributes.tags = tags
        try store.save([1], forKey: key, attributes: attributes, if: nil)
    }

    private func sweep(_ store: FileStore, at time: Double) throws -> [String] {
        var removed: [String] = []
        try store.removeExpired(at: Date(timeIntervalSinceReferenceDate: time)) { removed.append($0.key) }
        return removed.sorted()
    }

    private func remove(_ tag: String, from store: FileStore) throws -> [String] {
        var removed: [String] = []
        try store.removeAll(tagged: tag) { removed.append($0.key) }
        return removed.sorted()
    }

    /// As time passes, each sweep removes exactly the entries that have become due.
    @Test(arguments: seeds(0..<10)) func aSweepRemovesExactlyWhatIsDue(seed: Int) throws {
        try withTemporaryDirectory { path in
            var random = SeededGenerator(seed: seed)
            var stores = try (0..<2).map { _ in try FileStore(directory: path, create: true) }
            var deadlines: [String: Double] = [:]
            var now = Double.random(in: -1e9...1e9, using: &random)
            for step in 0..<120 {
                let store = stores[step % 2]
                let key = "key \(Int.random(in: 0..<30, using: &random))"
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<5:
                    let deadline =
                        now + .random(in: 0...1, using: &random) * pow(10, .random(in: 0...9, using: &random))
                    try save(key, in: store, at: now, until: deadline)
                    deadlines[key] = deadline
                case 5:
                    try save(key, in: store, at: now)
                    deadlines[key] = nil
                case 6:
                    guard let entry = try store.information(forKey: key) else { break }
                    let deadline = now + .random(in: -10...1e6, using: &random)
                    _ = try store.moveDeadline(of: entry, to: Date(timeIntervalSinceReferenceDate: deadline))
                    deadlines[key] = deadline
                case 7:
                    try store.remove(forKey: key)
                    deadlines[key] = nil
                case 8: stores[step % 2] = try FileStore(directory: path, create: true)
                default:
                    now += .random(in: 0...1, using: &random) * pow(10, .random(in: 0...7, using: &random))
                    let due = deadlines.filter { $0.value <= now }.keys.sorted()
                    #expect(try sweep(store, at: now) == due, "seed \(seed), step \(step)")
                    for key in due { deadlines[key] = nil }
                }
            }
            #expect(try sweep(stores[0], at: 1e14) == deadlines.keys.sorted(), "seed \(seed)")
        }
    }

    @Test func aSweepLooksAtNothingThatIsNotDue() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            _ = try sweep(store, at: 0)
            for key in 0..<20 { try save("later \(key)", in: store, until: 1e6) }
            for key in 0..<20 { try save("never \(key)", in: store) }
            // A sweep that opened any of these files would find it damaged and move it away.
            for file in entries(in: path) { try writeFile([1], file) }
            for key in 0..<5 { try save("due \(key)", in: store, until: 100) }
            // Nor is any directory listed: a name that would be found there is no entry's at all.
            #expect(try sweep(store, at: 99) == [])
            #expect(try sweep(store, at: 100) == (0..<5).map { "due \($0)" })
            #expect(entries(in: path).count == 40)
            // The lists of due entries are gone.
            let lists = try FileManager.default.contentsOfDirectory(atPath: path + "/.wheel")
            #expect(lists.compactMap(WheelBucket.init).allSatisfy { $0.start > 100 })
        }
    }

    @Test func entriesFromBeforeThereWereListsAreFound() throws {
        try withTemporaryDirectory { path in
            do {
                let store = try FileStore(directory: path, create: true)
                for key in 0..<20 { try save("\(key)", in: store, until: Double(key), tags: ["tag"]) }
            }
            for name in [".wheel", ".tags"] { try FileManager.default.removeItem(atPath: path + "/" + name) }
            let store = try FileStore(directory: path, create: true)
            try save("new", in: store, until: 5)
            #expect(try sweep(store, at: 9).count == 11)
            #expect(try remove("tag", from: store).count == 10)
        }
    }

    /// A process that was killed while it worked through a list leaves the list under a name of its own.
    @Test func whatSomebodyWasWorkingOnIsNotLost() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            _ = try sweep(store, at: 0)
            try save("due", in: store, until: 10, tags: ["tag"])
            try save("tagged", in: store, tags: ["tag"])
            for folder in ["/.wheel/", "/.tags/"] {
                for list in try FileManager.default.contentsOfDirectory(atPath: path + folder)
                where list != "listed" {
                    try FileManager.default.moveItem(
                        atPath: path + folder + list,
                        toPath: path + folder + list + ".0123456789abcdef"
                    )
                }
            }
            #expect(try sweep(store, at: 10) == ["due"])
            #expect(try remove("tag", from: store) == ["tagged"])
        }
    }

    /// Another process shortens the list at the same time: it copies the entries that are still valid to a new list and
    /// deletes the old one.
    ///
    /// - Parameter moment: the number of the listing of the lists' directory before which it does so.
    @Test(arguments: 1...12) func aListThatSomebodyMakesShorterIsNotMissed(moment: Int) throws {
        try withTemporaryDirectory { path in
            let list = path + "/.tags/" + EntryNames(nil, naming: nil).list(ofTag: "tag")
            let claimed = list + ".0123456789abcdef"
            let listings = Atomic<Int>(0)
            let layer = FileLayer { call in
                guard call.operation == .list, call.name.hasSuffix(".tags") else { return .proceed }
                guard listings.add(1, ordering: .relaxed).newValue == moment else { return .proceed }
                // Not while others are kept away.
                let folder = open(path + "/.tags", O_RDONLY)
                defer { close(folder) }
                if flock(folder, LOCK_EX | LOCK_NB) == 0 { rename(claimed, list) }
                return .proceed
            }
            let store = try FileStore(directory: path, create: true, layer: layer) { EntryName($0) }
            _ = try sweep(store, at: 0)
            try save("tagged", in: store, tags: ["tag"])
            try FileManager.default.moveItem(atPath: list, toPath: claimed)
            listings.store(0, ordering: .relaxed)
            #expect(try remove("tag", from: store) == ["tagged"])
            #expect(listings.load(ordering: .relaxed) > 5)
        }
    }

    @Test(arguments: seeds(0..<10)) func removesExactlyWhatIsTagged(seed: Int) throws {
        try withTemporaryDirectory { path in
            var random = SeededGenerator(seed: seed)
            let stores = try (0..<2).map { _ in try FileStore(directory: path, create: true) }
            var model: [String: Set<String>] = [:]
            for step in 0..<120 {
                let store = stores[step % 2]
                let key = "key \(Int.random(in: 0..<20, using: &random))"
                let tag = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                switch Int.random(in: 0..<8, using: &random) {
                case 0..<5:
                    let tags = Set(["a", "b", "c"].filter { _ in Bool.random(using: &random) })
                    try save(key, in: store, tags: tags.sorted())
                    model[key] = tags
                case 5:
                    try store.remove(forKey: key)
                    model[key] = nil
                default:
                    let tagged = model.filter { $0.value.contains(tag) }.keys.sorted()
                    #expect(try remove(tag, from: store) == tagged, "seed \(seed), step \(step)")
                    for key in tagged { model[key] = nil }
                }
            }
        }
    }

    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func listsStayAsShortAsWhatIsTrueOfThem() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path, create: true)
            let list = path + "/.tags/" + EntryNames(nil, naming: nil).list(ofTag: "tag")
            for round in 0..<5_000 {
                try save("key", in: store, until: 1e9, tags: ["tag"])
                if round % 1_000 < 999 { try store.remove(forKey: "key") }
            }
            store.upkeep.sync {}
            #expect(try readFile(list).count < 1 << 16)
            #expect(try remove("tag", from: store) == ["key"])
        }
    }

    @Test func whatIsDueGoesBeforeAllElse() throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.countLimit = 20
            let store = try FileStore(directory: path, create: true, settings: settings)
            for key in 0..<20 { try save("\(key)", in: store, until: key % 2 == 0 ? 50 : 1e6) }
            try save("new", in: store, at: 100)
            for key in stride(from: 1, to: 20, by: 2) { #expect(try store.information(forKey: "\(key)") != nil) }
            for key in stride(from: 0, to: 20, by: 2) { #expect(try store.information(forKey: "\(key)") == nil) }
        }
    }

    // MARK: Others

    @Test func tellsWhatOthersHaveChanged() throws {
        try withTemporaryDirectory { path in
            var settings = StoreSettings()
            settings.followsOthers = true
            let other = try FileStore(directory: path, create: true)
            let store = try FileStore(directory: path, create: true, settings: settings)
            func changes() throws -> Set<KeyDigest>? {
                if case .keys(let keys) = try store.changesByOthers() { Set(keys) } else { nil }
            }
            try save("before", in: other)
            #expect(try changes() == nil)
            #expect(try changes() == [])
            try save("own", in: store)
            #expect(try changes() == [])
            try save("a", in: other)
            try save("b", in: other)
            try other.remove(forKey: "before")
            #expect(try changes() == Set(["a", "b", "before"].map(store.digest)))
            #expect(try changes() == [])
            try other.removeAll()
            #expect(try changes() == Set(["a", "b", "own"].map(store.digest)))
            try FileManager.default.removeItem(atPath: path + "/journal")
            #expect(try changes() == nil)
            try save("c", in: other)
            #expect(try changes() == [other.digest(of: "c")])
        }
    }

    /// A list that is being rewritten in the background while its tag is removed.
    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func aRemovalByTagMissesNothingThatIsListedAnew() throws {
        try withTemporaryDirectory { path in
            let store = try FileStore(directory: path + "/cache", create: true)
            for round in 0..<2 {
                var attributes = EntryAttributes(storedAt: .now)
                attributes.tags = ["t"]
                for index in 0..<4_200 {
                    try store.save([1], forKey: "\(round) \(index)", attributes: attributes, if: nil)
                }
                var removed = 0
                try store.removeAll(tagged: "t") { _ in removed += 1 }
                #expect(removed == 4_200)
                var left = 0
                try store.forEachEntry { _ in
                    left += 1
                    return true
                }
                #expect(left == 0)
            }
        }
    }
}
