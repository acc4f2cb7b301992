import Foundation
import TestSupport
import Testing

@testable import ArchiveStore
@testable import KeyedArchive
@testable import TypedCache

/// Types that had other names when their entries were saved.
@Suite struct FormerNamesTests {
    private let directory = TestDirectory()

    private func cache<Value: Encoded>(of type: Value.Type, hasMemory: Bool = false) throws -> Cache<Value> {
        try hasMemory
            ? Cache(name: "renamed", directory: directory.url)
            : Cache(name: "renamed", directory: directory.url, settings: CacheSettings(memory: .none))
    }

    /// Saves a value and lets go of the cache.
    private func save<Value: Encoded>(_ value: Value, forKey key: String) throws
    where Value.Wrapper.Value == Value {
        let former = try cache(of: Value.self)
        try former.save(value, forKey: key)
        try former.flush()
    }

    @Test func aRenamedValueIsFetchedAndSavedUnderItsNewName() throws {
        try save(Hamlet(name: "Alvand"), forKey: "1")
        let towns = try cache(of: Town.self)
        #expect(try towns.fetch(forKey: "1")?.name == "Alvand")
        try towns.save(Town(name: "Tehran"), forKey: "1")
        #expect(try towns.fetch(forKey: "1")?.name == "Tehran")
        // The former type does not know the new name.
        let error = try #require(
            #expect(throws: CacheError.self) { _ = try cache(of: Hamlet.self).fetch(forKey: "1") }
        )
        #expect(error.code == .typeMismatch)
        #expect(error.description.components(separatedBy: "typeMismatch").count == 2, "\(error)")
    }

    @Test func aGenericValueIsFetchedByTheFormerNameOfItsArgument() throws {
        try save(Chapter(items: [Hamlet(name: "Alvand")]), forKey: "1")
        #expect(try cache(of: Chapter<Town>.self).fetch(forKey: "1")?.items.first?.name == "Alvand")
    }

    @Test func typesInsideNeedNoFormerNames() throws {
        struct Inner: Codable { var number: Int }
        struct Renamed: Codable { var number: Int }
        try save(Chapter(items: [Inner(number: 1)]), forKey: "1")
        #expect(throws: CacheError.self) { _ = try cache(of: Chapter<Renamed>.self).fetch(forKey: "1") }
        try save(Shelf(inner: .init(number: 3)), forKey: "2")
        #expect(try cache(of: Rack.self).fetch(forKey: "2")?.inner.number == 3)
    }

    @Test func aRenamedWrapperIsFetched() throws {
        try save(Level(depth: 7), forKey: "1")
        #expect(try cache(of: Floor.self).fetch(forKey: "1")?.depth == 7)
        let error = try #require(
            #expect(throws: CacheError.self) { _ = try cache(of: Coordinate.self).fetch(forKey: "1") }
        )
        #expect(error.code == .typeMismatch)
    }

    @Test func aFormerNameThatBelongsToAnotherTypeNowIsSafe() throws {
        // City is another type's name, with fields that Impostor does not have.
        try save(City(name: "Alvand", population: 90_000), forKey: "1")
        let error = try #require(
            #expect(throws: CacheError.self) { _ = try cache(of: Impostor.self).fetch(forKey: "1") }
        )
        #expect(error.code == .decodingFailed)
        #expect(!error.description.contains("90000") && !error.description.contains("Alvand"))
        // And the entry stays as it was.
        #expect(try cache(of: City.self).fetch(forKey: "1")?.population == 90_000)
    }

    @Test func whatIsInMemoryIsReadByTheSameRule() throws {
        try save(Hamlet(name: "Alvand"), forKey: "1")
        let towns = try cache(of: Town.self, hasMemory: true)
        for _ in 0..<3 { #expect(try towns.fetch(forKey: "1")?.name == "Alvand") }
    }
}

private struct Hamlet: Codable, Encoded { var name: String }

private struct Town: Codable, Encoded {
    static let formerNames = ["TypedCacheTests.Hamlet", "Atlas.Town"]
    var name: String
}

private struct Chapter<Item: Codable>: Codable { var items: [Item] }

extension Chapter: Encoded {
    static var formerNames: [String] {
        (Item.self as? any Encoded.Type)?.archivedNames.map { "TypedCacheTests.Chapter<\($0)>" } ?? []
    }
}

private struct Shelf: Codable, Encoded {
    struct Inner: Codable { var number: Int }
    var inner: Inner
}

private struct Rack: Codable, Encoded {
    static let formerNames = ["TypedCacheTests.Shelf"]
    struct Part: Codable { var number: Int }
    var inner: Part
}

private struct Impostor: Codable, Encoded {
    static let formerNames = ["TypedCacheTests.City"]
    var mayor: String
}

private struct Level { var depth: Int }
private struct Floor { var depth: Int }

private final class EncodableLevel: NSObject, NSCoding, WrapperEncoder {
    let depth: Int
    init(depth: Int) { self.depth = depth }
    required init?(coder: NSCoder) { depth = coder.decodeInteger(forKey: "depth") }
    func encode(with coder: NSCoder) { coder.encode(depth, forKey: "depth") }
    var value: Level? { Level(depth: depth) }
}

private final class EncodableFloor: NSObject, NSCoding, WrapperEncoder {
    static let formerNames = ["TypedCacheTests.EncodableLevel"]
    let depth: Int
    init(depth: Int) { self.depth = depth }
    required init?(coder: NSCoder) { depth = coder.decodeInteger(forKey: "depth") }
    func encode(with coder: NSCoder) { coder.encode(depth, forKey: "depth") }
    var value: Floor? { Floor(depth: depth) }
}

extension Level: Encoded { var encoder: EncodableLevel { EncodableLevel(depth: depth) } }
extension Floor: Encoded { var encoder: EncodableFloor { EncodableFloor(depth: depth) } }
