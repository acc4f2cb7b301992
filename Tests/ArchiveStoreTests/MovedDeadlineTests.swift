import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// Hits and `extend` move the deadline of an entry that another caller has listed or read, and then removes.
@Suite struct MovedDeadlineTests {
    private static let stores: [StoreUnderTest] = StoreUnderTest.allCases.filter {
        switch $0 {
        // Where entries are chosen without a lock that the move would wait for.
        case .packed, .collidingPacked, .shared, .tiered, .clustered: true
        default: false
        }
    }

    /// A removal by tag takes an entry though its deadline is moved right before, and tells of it.
    @Test(arguments: stores) func aRemovalByTagTakesIt(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let store = try open()
            let other = try open()
            for key in ["a", "b"] { try save(key, tags: ["red"], in: store) }
            try save("c", tags: ["green"], in: store)
            var isMoved = false
            var removed: [String] = []
            try store.removeAll(tagged: "red") { entry in
                if entry.key == "a", !isMoved { isMoved = move("a", in: other) }
            } removed: {
                removed.append($0.key)
            }
            #expect(isMoved)
            #expect(removed.sorted() == ["a", "b"])
            for key in ["a", "b"] { #expect(try store.fetch(forKey: key) == nil, "\(key)") }
            #expect(try store.fetch(forKey: "c") != nil)
        }
    }

    /// An entry that is chosen again is removed with any deadline. Where entries have serials, so is the save of one that
    /// was read; another save is not, of the same length and time either.
    @Test(arguments: StoreUnderTest.allCases) func aSaveIsRemovedWithAnyDeadline(_ kind: StoreUnderTest) throws {
        try kind.withPlace { open in
            let store = try open()
            try save("a", in: store)
            let read = try #require(try store.information(forKey: "a"))
            #expect(move("a", in: store))
            #expect(try store.removeSave(of: read) { $0.expiresAt == nil } == nil)
            #expect(try store.information(forKey: "a") != nil)
            let hasSerials = read.attributes.serial != nil
            #expect(try (store.removeSave(of: read) != nil) == hasSerials)
            #expect(try (store.information(forKey: "a") == nil) == hasSerials)
            if !hasSerials { #expect(try store.removeSave(of: read) { _ in true }?.key == "a") }
            #expect(try store.information(forKey: "a") == nil)
            #expect(try store.removeSave(of: read) { _ in true } == nil)
            try save("a", [3, 2, 1], in: store)
            #expect(try store.removeSave(of: read) == nil)
            #expect(try store.information(forKey: "a") != nil)
        }
    }

    private static let start = Date(
        timeIntervalSinceReferenceDate: Date.now.timeIntervalSinceReferenceDate.rounded()
    )

    private func save(
        _ key: String,
        _ archive: [UInt8] = [1, 2, 3],
        tags: [String] = [],
        in store: any ArchiveStore
    ) throws {
        var attributes = EntryAttributes(storedAt: Self.start)
        attributes.expiresAt = Self.start + 3_600
        attributes.tags = tags
        #expect(try store.save(archive, forKey: key, attributes: attributes, if: nil) != nil)
    }

    /// Whether the deadline of a key's entry was moved.
    private func move(_ key: String, in store: any ArchiveStore) -> Bool {
        guard let entry = try? store.information(forKey: key) else { return false }
        return (try? store.moveDeadline(of: entry, to: Self.start + 7_200)) ?? nil != nil
    }
}
