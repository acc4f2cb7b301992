import Foundation
import Testing

@testable import KeyedArchive

/// Types that had other names when archives of them were written.
@Suite struct FormerNamesTests {
    private func archive(_ value: some Codable, rootClass: String? = nil) throws -> Data {
        let data = try KeyedArchiver.archivedData(encoding: value)
        guard let rootClass else { return data }
        return try renamed(data, rootClass)
    }

    /// The archive with another name for the class of its root.
    private func renamed(_ data: Data, _ name: String) throws -> Data {
        var tree = try ArchiveTree(data)
        let root = try #require(tree.roots.first { $0.key == "root" }?.value)
        let instance = try #require(tree.instance(root))
        tree.objects[instance.classPlace] = .classDescription(.init(name: name, chain: [name, "NSObject"]))
        return try tree.archivedData()
    }

    // MARK: Codable values

    @Test func aRenamedValueIsRead() throws {
        let album = try KeyedUnarchiver.unarchivedValue(of: Track.self, from: archive(Album(title: "t")))
        #expect(album.title == "t")
        let own = try KeyedUnarchiver.unarchivedValue(of: Track.self, from: archive(Track(title: "new")))
        #expect(own.title == "new")
    }

    @Test func aValueFromAnotherModuleIsRead() throws {
        let data = try archive(Track(title: "t"), rootClass: "OldPlayer.Track")
        #expect(try KeyedUnarchiver.unarchivedValue(of: Track.self, from: data).title == "t")
    }

    @Test func aGenericValueIsReadByTheFormerNamesOfItsArgument() throws {
        let names = [
            "KeyedArchiveTests.Sheet<OldPlayer.Track>", "OldPlayer.Sheet<OldPlayer.Track>",
            "OldPlayer.Sheet<KeyedArchiveTests.Track>",
        ]
        for name in names {
            let data = try archive(Sheet(items: [Track(title: "t")]), rootClass: name)
            #expect(
                try KeyedUnarchiver.unarchivedValue(of: Sheet<Track>.self, from: data).items.count == 1,
                "\(name)"
            )
        }
        let other = try archive(Sheet(items: [Track(title: "t")]), rootClass: "OldPlayer.Sheet<Swift.Int>")
        #expect(code { try KeyedUnarchiver.unarchivedValue(of: Sheet<Track>.self, from: other) } == .typeMismatch)
    }

    @Test(arguments: ["OldPlayer.Track2", "oldplayer.Track", "", "NSObject", "KeyedArchiveTests.Hidden"])
    func noOtherNameIsTaken(name: String) throws {
        let data = try archive(Track(title: "t"), rootClass: name)
        #expect(code { try KeyedUnarchiver.unarchivedValue(of: Track.self, from: data) } == .typeMismatch)
        #expect(code { try KeyedUnarchiver.unarchivedValue(of: Album.self, from: data) } == .typeMismatch)
    }

    @Test func theMessageNamesBothTypes() throws {
        let data = try archive(Album(title: "secret"), rootClass: "Other.Thing")
        let error = try #require(
            #expect(throws: ArchiveError.self) { try KeyedUnarchiver.unarchivedValue(of: Track.self, from: data) }
        )
        let types = "the root is Other.Thing, not KeyedArchiveTests.Track"
        #expect(error.message == "\(types); a renamed type gives its former names")
        #expect(error.offset != nil)
    }

    // MARK: Classes

    @Test func aRenamedClassIsReadAtTheRootAndInside() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("OldZoo.Creature", for: Beast.self)
        archiver.encode([Beast("lion"), Beast("cub")], forKey: "root")
        let animals = try KeyedUnarchiver.unarchivedObject(
            ofClass: [Beast].self,
            allowing: [Beast.self],
            from: archiver.encodedData
        )
        #expect(animals?.map(\.name) == ["lion", "cub"])
    }

    @Test func aFormerNameAllowsNoClassThatIsNotExpected() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("OldZoo.Creature", for: Beast.self)
        archiver.encode(Beast("lion"), forKey: "root")
        let data = try archiver.encodedData
        #expect(
            code { try KeyedUnarchiver.unarchiveObject(with: data, allowing: [Point.self]) } == .classNotAllowed
        )
    }

    @Test func aPresentNameGoesBeforeAFormerOne() throws {
        // Base had no other name, but Usurper claims its.
        let data = try KeyedArchiver.archivedData(withRootObject: Base(title: "t"))
        let classes: [AnyClass] = [Usurper.self, Base.self]
        #expect(try KeyedUnarchiver.unarchiveObject(with: data, allowing: classes) is Base)
        // Where Base is not expected, the object is a Usurper, by the Usurper's own initializer.
        #expect(try KeyedUnarchiver.unarchiveObject(with: data, allowing: [Usurper.self]) is Usurper)
        // Foundation's own values keep their class.
        let list = try KeyedArchiver.archivedData(withRootObject: NSMutableArray(array: ["a"]))
        #expect(try KeyedUnarchiver.unarchiveObject(with: list, allowing: [Usurper.self]) is NSMutableArray)
    }

    @Test func aSubclassDoesNotHaveItsSuperclassesFormerNames() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("OldZoo.Creature", for: Beast.self)
        archiver.encode(Beast("lion"), forKey: "root")
        let data = try archiver.encodedData
        let root = try KeyedUnarchiver.unarchiveObject(with: data, allowing: [Feline.self, Beast.self])
        #expect(root.map { type(of: $0) == Beast.self } == true)
        #expect(
            code { try KeyedUnarchiver.unarchiveObject(with: data, allowing: [Feline.self]) } == .classNotAllowed
        )
    }

    @Test func secureCodingIsAskedOfARenamedClassToo() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("OldZoo.Creature", for: Beast.self)
        archiver.encode(Beast("lion"), forKey: "root")
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData, classes: [Beast.self])
        unarchiver.requiresSecureCoding = true
        #expect(unarchiver.decodeObject(forKey: "root") == nil)
        let error = try #require(unarchiver.error as? ArchiveError)
        #expect(error.code == .classNotAllowed)
        #expect(error.message.contains("does not support secure coding"))
    }
}

private struct Album: Codable { var title: String }

struct Track: Codable, FormerlyNamed {
    static let formerNames = [ArchivedClass.of(Album.self).name, "OldPlayer.Track"]
    var title: String
}

struct Sheet<Item: Codable>: Codable { var items: [Item] }

extension Sheet: FormerlyNamed where Item: FormerlyNamed {
    static var formerNames: [String] {
        Item.archivedNames.flatMap { ["OldPlayer.Sheet<\($0)>", "KeyedArchiveTests.Sheet<\($0)>"] }
    }
}

class Beast: NSObject, NSCoding, FormerlyNamed {
    class var formerNames: [String] { ["OldZoo.Creature"] }
    let name: String
    init(_ name: String) { self.name = name }
    required init?(coder: NSCoder) { name = coder.decodeObject(forKey: "name") as? String ?? "" }
    func encode(with coder: NSCoder) { coder.encode(name, forKey: "name") }
}

final class Feline: Beast {}

final class Usurper: NSObject, NSCoding, FormerlyNamed {
    static let formerNames = ["KeyedArchiveTests.Base", "NSMutableArray", "NSString"]
    required init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}
