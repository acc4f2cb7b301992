import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// One random life of a store, compared with a dictionary of its expected content; the store is reopened now and then.
func checkStore(opening open: () throws -> any ArchiveStore, seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    var store = try open()
    var model: [[UInt8]: (archive: [UInt8], attributes: EntryAttributes)] = [:]
    var remembered: [EntryInformation] = []
    let keys = (0..<6).map { "key \($0)" } + StoreLawTests.keys.shuffled(using: &random).prefix(4)

    func matches(_ information: EntryInformation) -> Bool {
        guard let entry = model[Array(information.key.utf8)] else { return false }
        // A serial is the store's own.
        var attributes = information.attributes
        attributes.serial = nil
        // A store may round the time of a save down, by less than 1/256 of a second.
        let isRounded = (0..<1 / 256).contains(entry.attributes.storedAt.timeIntervalSince(attributes.storedAt))
        if isRounded { attributes.storedAt = entry.attributes.storedAt }
        return attributes == entry.attributes
            && information.archiveByteCount == entry.archive.count
    }

    for step in 0..<80 {
        let place: Comment = "seed \(seed), step \(step)"
        let key = keys.randomElement(using: &random) ?? "key"
        let expected = model[Array(key.utf8)]
        switch Int.random(in: 0..<29, using: &random) {
        case 0..<6:
            let archive = random.archive()
            let attributes = random.attributes()
            let saved = try store.save(archive, forKey: key, attributes: attributes, if: nil)
            model[Array(key.utf8)] = (archive, attributes)
            #expect(saved.map(matches) == true, place)
            #expect(try store.information(forKey: key)?.identity == saved?.identity, place)
        case 6:
            let archive = random.archive()
            let attributes = random.attributes()
            let isWanted = Bool.random(using: &random)
            let before = try store.information(forKey: key)
            let saved = try store.save(archive, forKey: key, attributes: attributes) { information in
                #expect(information?.identity == before?.identity, place)
                return isWanted
            }
            #expect((saved != nil) == isWanted, place)
            if isWanted { model[Array(key.utf8)] = (archive, attributes) }
        case 7..<12:
            let peeked = Bool.random(using: &random)
            let stored = try peeked ? store.peek(forKey: key) : store.fetch(forKey: key)
            let isSame = stored?.archive == expected?.archive
            #expect(isSame, place)
            #expect(stored.map { matches($0.information) } ?? true, place)
        case 12..<14:
            let information = try store.information(forKey: key)
            #expect((information == nil) == (expected == nil), place)
            #expect(information.map(matches) ?? true, place)
            if let information { remembered.append(information) }
        case 14..<16:
            #expect(try store.remove(forKey: key) == (expected != nil), place)
            model[Array(key.utf8)] = nil
        case 16:
            guard let old = remembered.randomElement(using: &random) else { break }
            let isThere = try store.information(forKey: old.key)?.identity == old.identity
            #expect(try store.remove(old) == isThere, place)
            if isThere { model[Array(old.key.utf8)] = nil }
        case 17:
            var seen: Set<[UInt8]> = []
            try store.forEachEntry { entry in
                guard case .success(let information) = entry else {
                    Issue.record("an entry cannot be read; \(place)")
                    return true
                }
                #expect(seen.insert(Array(information.key.utf8)).inserted && matches(information), place)
                return true
            }
            let isSame = seen == Set(model.keys)
            #expect(isSame, place)
            #expect(try store.removeDamagedEntries() == 0, place)
            #expect(try store.compact() >= 0, place)
        case 18:
            store = try open()
        case 19, 20:
            guard let old = remembered.randomElement(using: &random) else { break }
            let isThere = try store.information(forKey: old.key)?.identity == old.identity
            let seconds = Double.random(in: -1e9...1e9, using: &random)
            let isForEver = Int.random(in: 0..<4, using: &random) == 0
            let date = isForEver ? nil : Date(timeIntervalSinceReferenceDate: seconds)
            let moved = try store.moveDeadline(of: old, to: date)
            #expect((moved != nil) == isThere, place)
            if isThere { model[Array(old.key.utf8)]?.attributes.expiresAt = date }
            #expect(moved.map(matches) ?? true, place)
        case 21:
            let date = Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &random))
            let due = model.filter { $0.value.attributes.usableUntil.map { $0 <= date } ?? false }
            var removed: [[UInt8]] = []
            try store.removeExpired(at: date) { removed.append(Array($0.key.utf8)) }
            #expect(removed.count == due.count && Set(removed) == Set(due.keys), place)
            for key in due.keys { model[key] = nil }
        case 22:
            let tag = SeededGenerator.tags.randomElement(using: &random) ?? ""
            let tagged = model.filter { $0.value.attributes.tags.contains { $0.utf8.elementsEqual(tag.utf8) } }
            var removed: [[UInt8]] = []
            try store.removeAll(tagged: tag) { removed.append(Array($0.key.utf8)) }
            #expect(removed.count == tagged.count && Set(removed) == Set(tagged.keys), place)
            for key in tagged.keys { model[key] = nil }
        case 23, 24:
            // Some keys twice, and one invalid key.
            let archives = (0..<Int.random(in: 0..<9, using: &random)).map { _ in
                let key = Int.random(in: 0..<8, using: &random) == 0 ? "" : keys.randomElement(using: &random)
                return NewArchive(key: key ?? "key", archive: random.archive(), attributes: random.attributes())
            }
            let results = store.save(archives)
            #expect(results.count == archives.count, place)
            var saved: [[UInt8]: EntryIdentity] = [:]
            for (new, result) in zip(archives, results) {
                if new.key.isEmpty {
                    #expect(result.failureCode == .invalidArgument, place)
                    continue
                }
                let information = try #require(try result.get(), place)
                model[Array(new.key.utf8)] = (new.archive, new.attributes)
                #expect(matches(information), place)
                saved[Array(new.key.utf8)] = information.identity
            }
            for new in archives where !new.key.isEmpty {
                let identity = try store.information(forKey: new.key)?.identity
                #expect(identity == saved[Array(new.key.utf8)], place)
            }
        case 25:
            let doomed = (0..<Int.random(in: 0..<9, using: &random)).map { _ in
                Int.random(in: 0..<8, using: &random) == 0 ? "" : keys.randomElement(using: &random) ?? "key"
            }
            let results = store.remove(forKeys: doomed)
            #expect(results.count == doomed.count, place)
            for (key, result) in zip(doomed, results) {
                if key.isEmpty {
                    #expect(result.failureCode == .invalidArgument, place)
                } else {
                    #expect(try result.get() == (model.removeValue(forKey: Array(key.utf8)) != nil), place)
                }
            }
        case 26, 27:
            // Some keys twice, and one invalid key.
            let wanted = (0..<Int.random(in: 0..<20, using: &random)).map { _ in
                Int.random(in: 0..<16, using: &random) == 0 ? "" : keys.randomElement(using: &random) ?? "key"
            }
            let results = store.fetch(forKeys: wanted)
            #expect(results.count == wanted.count, place)
            for (key, result) in zip(wanted, results) {
                if key.isEmpty {
                    #expect(result.failureCode == .invalidArgument, place)
                    continue
                }
                let stored = try result.get()
                let isSame = stored?.archive == model[Array(key.utf8)]?.archive
                #expect(isSame, place)
                #expect(stored.map { matches($0.information) } ?? true, place)
            }
        default:
            guard Int.random(in: 0..<5, using: &random) == 0 else { break }
            try store.removeAll()
            model = [:]
        }
    }
    for key in keys {
        #expect(
            try store.fetch(forKey: key)?.archive == model[Array(key.utf8)]?.archive,
            "seed \(seed), at the end"
        )
    }
}

extension Result where Failure == StoreError {
    /// The failure's code; `nil` for a success.
    var failureCode: StoreError.Code? {
        if case .failure(let error) = self { error.code } else { nil }
    }
}
