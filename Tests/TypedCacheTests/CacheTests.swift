import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import TypedCache

@Suite struct CacheTests {
    let directory = TestDirectory()
    let clock = TestClock()

    private func cache<Value: Encoded>(
        _ type: Value.Type = Value.self,
        name: String = "cache",
        memory: MemorySettings = MemorySettings(),
        expiration: Expiration = .never,
        reporter: (@Sendable (CacheError) -> Void)? = nil
    ) throws -> Cache<Value> where Value.Wrapper.Value == Value {
        try Cache(
            name: name,
            directory: directory.url,
            settings: CacheSettings(
                memory: memory,
                expiration: expiration,
                clock: clock,
                observer: reporter.map { FailureObserver(told: $0) }
            )
        )
    }

    // MARK: Saving and fetching

    @Test(arguments: [MemorySettings(), .none])
    func whatWasSavedIsFetchedByThisAndTheNextCache(memory: MemorySettings) throws {
        let home = Coordinate(latitude: 35.82159, longitude: -51)
        let first = try cache(Coordinate.self, memory: memory)
        try first.save(object: home)
        try first.save(home, forKey: "home")
        #expect(try first.fetchObject() == home)
        let second = try cache(Coordinate.self, memory: memory)
        #expect(try second.fetchObject() == home)
        #expect(try second.fetch(forKey: "home") == home)
        #expect(try second.fetch(forKey: "work") == nil)
        #expect(try Set(second.keys().all()) == ["home", Cache<Coordinate>.objectKey])
        #expect(try second.count() == 2)
    }

    @Test func codableValuesNeedOneWord() throws {
        let city = City(name: "Lavāsān", population: 18_146)
        try cache(City.self).save(city, forKey: 490)
        #expect(try cache(City.self).fetch(forKey: "490") == city)
    }

    @Test func aClassGraphIsFetchedWithACast() throws {
        let zoo = try cache(Order.self)
        try zoo.save(SubFamily(order: "Carnivore", family: "Felid"), forKey: "lion")
        for zoo in [zoo, try cache(Order.self)] {
            #expect(try zoo.fetch(SubFamily.self, forKey: "lion")?.family == "Felid")
            #expect(try zoo.fetch(Family.self, forKey: "lion")?.order == "Carnivore")
            #expect(try zoo.fetch(forKey: "lion") is SubFamily)
            #expect(try zoo.fetch(SubFamily.self, forKey: "tiger") == nil)
        }
        try zoo.save(Order(order: "Primate"), forKey: "ape")
        #expect(code { try zoo.fetch(SubFamily.self, forKey: "ape") } == .typeMismatch)
    }

    @Test func nobodyCanChangeAnObjectThatAnotherOneGets() throws {
        let zoo = try cache(Order.self)
        let order = Order(order: "Carnivore")
        try zoo.save(order, forKey: "x")
        order.order = "changed"
        let fetched = try zoo.fetch(forKey: "x")
        try #require(fetched).order = "changed"
        #expect(try zoo.fetch(forKey: "x")?.order == "Carnivore")
    }

    @Test("A 1,024-byte key, `/`, NUL, emoji, names differing in case only: distinct entries")
    func keysAreComparedByteByByte() throws {
        let cities = try cache(City.self)
        let keys = [
            "a", "A", "a/b", "../x", ".", "a\u{0}b", "😀", "\u{E9}", "e\u{301}",
            String(repeating: "k", count: 1_024),
            " ", "\n", Cache<City>.objectKey,
        ]
        for (index, key) in keys.enumerated() {
            try cities.save(City(name: "c", population: index), forKey: key)
        }
        for cities in [cities, try cache(City.self)] {
            for (index, key) in keys.enumerated() {
                #expect(try cities.fetch(forKey: key)?.population == index)
                #expect(try cities.contains(forKey: key))
            }
            #expect(try cities.count() == keys.count)
        }
    }

    @Test func keysOfOtherTypesAreTheirStrings() throws {
        enum Place: String, CacheKey { case home }
        enum Floor: Int, CacheKey { case first = 1 }
        let cities = try cache(City.self)
        let id = UUID()
        try cities.save(City(name: "1", population: 1), forKey: Place.home)
        try cities.save(City(name: "2", population: 2), forKey: id)
        try cities.save(City(name: "3", population: 3), forKey: -7)
        #expect(try cities.fetch(forKey: "home")?.name == "1")
        #expect(try cities.fetch(forKey: id.uuidString)?.name == "2")
        #expect(try cities.fetch(forKey: "-7")?.name == "3")
        try cities.save(City(name: "4", population: 4), forKey: Floor.first)
        #expect(try cities.fetch(forKey: "1")?.name == "4")
    }

    @Test func aURLIsItsAbsoluteText() throws {
        let cities = try cache(City.self)
        let text = "https://Example.org/a%20b?c=d#e"
        let url = try #require(URL(string: text))
        let relative = try #require(URL(string: "a%20b?c=d#e", relativeTo: URL(string: "https://Example.org/")))
        try cities.save(City(name: "1", population: 1), forKey: url)
        #expect(try cities.keys().all() == [text])
        #expect(try cities.fetch(forKey: relative)?.name == "1")
        #expect(try cities.fetch(forKeys: [url, relative]).count == 2)
        let long = try #require(URL(string: "data:," + String(repeating: "a", count: 1_019)))
        #expect(code { try cities.contains(forKey: long) } == .invalidKey)
    }

    @Test("Name `../x` throws and touches nothing")
    func unusableKeysAndNamesAreRefused() throws {
        let cities = try cache(City.self)
        for key in ["", String(repeating: "k", count: 1_025)] {
            #expect(code { try cities.fetch(forKey: key) } == .invalidKey)
            #expect(code { try cities.save(City(name: "", population: 0), forKey: key) } == .invalidKey)
            #expect(code { try cities.contains(forKey: key) } == .invalidKey)
            #expect(code { try cities.remove(forKey: key) } == .invalidKey)
        }
        let outside = TestDirectory()
        for name in [
            "", ".", "..", "../x", "a/b", "/tmp/x", "a\u{0}", ".hidden", "a\nb", String(repeating: "n", count: 201),
        ] {
            #expect(code { try Cache<City>(name: name, directory: outside.url) } == .invalidName)
        }
        #expect(!FileManager.default.fileExists(atPath: outside.url.path))
    }

    // MARK: Types

    @Test("An archive of type A fetched as B: typed error, process lives")
    func anArchiveOfAnotherTypeIsATypeMismatchAndStays() throws {
        let city = City(name: "x", population: 1)
        try cache(City.self).save(city, forKey: "x")
        #expect(code { try cache(Coordinate.self).fetch(forKey: "x") } == .typeMismatch)
        #expect(code { try cache(Village.self).fetch(forKey: "x") } == .typeMismatch)
        #expect(code { try cache(Order.self).fetch(forKey: "x") } == .typeMismatch)
        #expect(try cache(City.self).fetch(forKey: "x") == city)
    }

    // MARK: Expiration

    @Test func expiredMeansAbsentEverywhereWithoutASweep() throws {
        let city = City(name: "x", population: 1)
        let cities = try cache(City.self, expiration: .after(.seconds(100)))
        try cities.save(city, forKey: "default")
        try cities.save(city, forKey: "short", expiration: .after(.seconds(10)))
        try cities.save(city, forKey: "date", expiration: .at(clock.now + 10))
        try cities.save(city, forKey: "never", expiration: .never)
        try cities.save(city, forKey: "past", expiration: .at(clock.now))
        let cold = try cache(City.self)
        #expect(try cities.fetch(forKey: "past") == nil)
        #expect(try Set(cities.keys().all()) == ["default", "short", "date", "never"])
        clock.advance(by: 9.5)
        #expect(try cities.fetch(forKey: "short") == city)
        #expect(try cold.fetch(forKey: "date") == city)
        clock.advance(by: 0.5)
        #expect(try Set(cold.keys().all()) == ["default", "never"])
        #expect(try cities.count() == 2)
        for cities in [cities, cold] {
            for key in ["short", "date"] {
                #expect(try !cities.contains(forKey: key))
                #expect(try cities.fetch(forKey: key) == nil)
            }
            #expect(try cities.fetch(forKey: "never") == city)
        }
        clock.advance(by: 1e9)
        #expect(try cities.fetch(forKey: "default") == nil)
        #expect(try cities.keys().all() == ["never"])
        #expect(cities.statistics.expirations > 0)
    }

    @Test func readingDoesNotMoveADeadline() throws {
        let cities = try cache(City.self)
        try cities.save(City(name: "x", population: 1), forKey: "x", expiration: .after(.seconds(10)))
        for _ in 0..<9 {
            clock.advance(by: 1)
            #expect(try cities.fetch(forKey: "x") != nil)
            #expect(try cache(City.self).fetch(forKey: "x") != nil)
        }
        clock.advance(by: 1)
        #expect(try cities.fetch(forKey: "x") == nil)
        #expect(try cache(City.self).fetch(forKey: "x") == nil)
    }

    @Test func savingAnewGivesANewDeadline() throws {
        let cities = try cache(City.self)
        let other = try cache(City.self)
        try cities.save(City(name: "old", population: 1), forKey: "x", expiration: .after(.seconds(10)))
        #expect(try cities.fetch(forKey: "x")?.name == "old")
        try other.save(City(name: "new", population: 1), forKey: "x")
        clock.advance(by: 10)
        // The entry that this cache had in memory has expired; the one on disk has not.
        #expect(try cities.fetch(forKey: "x")?.name == "new")
    }

    @Test func anExpirationMustBeAMoment() throws {
        let cities = try cache(City.self)
        let city = City(name: "x", population: 1)
        try cities.save(city, forKey: "x")
        let never = Date(timeIntervalSinceReferenceDate: .nan)
        #expect(code { try cities.save(city, forKey: "x", expiration: .at(never)) } == .invalidExpiration)
        // The value is out of date all the same.
        #expect(try cities.fetch(forKey: "x") == nil)
        try cities.save(city, forKey: "x", expiration: .at(.distantFuture))
        #expect(try cities.fetch(forKey: "x") == city)
    }

    // MARK: Removing

    @Test func whatWasRemovedIsGoneInBothTiers() throws {
        let cities = try cache(City.self)
        for index in 0..<5 { try cities.save(City(name: "c", population: index), forKey: index) }
        #expect(try cities.remove(forKey: 3))
        #expect(try !cities.remove(forKey: 3))
        #expect(try cities.fetch(forKey: 3) == nil)
        #expect(try cache(City.self).fetch(forKey: 3) == nil)
        try cities.removeAll()
        #expect(try cities.count() == 0)
        #expect(try cities.fetch(forKey: 1) == nil)
        try cities.save(City(name: "again", population: 0), forKey: 1)
        #expect(try cache(City.self).keys().all() == ["1"])
    }

    @Test func cachesOfOneDirectoryAgree() throws {
        let first = try cache(City.self)
        let second = try cache(City.self)
        let third = try cache(City.self, memory: .none)
        func all() throws -> [String?] { try [first, second, third].map { try $0.fetch(forKey: "x")?.name } }
        for (index, writer) in [first, second, third, first].enumerated() {
            try writer.save(City(name: "v\(index)", population: 1), forKey: "x")
            #expect(try all() == [String?](repeating: "v\(index)", count: 3))
            #expect(try all() == [String?](repeating: "v\(index)", count: 3))
        }
        try second.remove(forKey: "x")
        #expect(try all() == [nil, nil, nil])
        try first.save(City(name: "last", population: 1), forKey: "x")
        #expect(try all() == ["last", "last", "last"])
        try third.removeAll()
        #expect(try all() == [nil, nil, nil])
    }

    // MARK: Failures

    @Test func aFailedSaveLeavesNoStaleValue() throws {
        let fickles = try cache(Fickle.self)
        try fickles.save(Fickle("good"), forKey: "x")
        #expect(code { try fickles.save(Fickle("bad"), forKey: "x") } == .encodingFailed)
        #expect(try fickles.fetch(forKey: "x") == nil)
        #expect(try !fickles.contains(forKey: "x"))
        #expect(try cache(Fickle.self).fetch(forKey: "x") == nil)
        try fickles.save(Fickle("better"), forKey: "x")
        #expect(try fickles.fetch(forKey: "x")?.text == "better")
    }

    @Test func whatCouldNotBeFetchedAgainIsNotSaved() throws {
        let links = try cache(Link.self)
        let first = Link()
        let second = Link()
        first.next = second
        try links.save(first, forKey: "x")
        #expect(try links.fetch(forKey: "x")?.next != nil)
        second.next = first
        try links.save(first, forKey: "circle")
        let circle = try #require(try cache(Link.self).fetch(forKey: "circle"))
        #expect(circle.next?.next === circle)
        circle.next = nil
        // Objects in a cycle through a property that cannot be empty cannot be restored.
        second.next = nil
        let owner = Owner(of: Link())
        owner.link.owner = owner
        second.owner = owner
        defer { owner.link.owner = nil }
        #expect(code { try links.save(first, forKey: "x") } == .encodingFailed)
        #expect(try links.fetch(forKey: "x") == nil)
        second.owner = nil
        // A list that shares a large one very often is small, and more than a reader takes.
        let large = NSMutableArray(array: Array(0..<10_000))
        second.list = (0..<2_000).map { _ in [large] }
        #expect(code { try links.save(first, forKey: "x") } == .encodingFailed)
        second.list = nil
        second.others = NSMutableArray()
        try links.save(first, forKey: "x")
        #expect(try links.fetch(forKey: "x")?.next?.others != nil)
        first.next = nil
    }

    /// Codable would decode it as the class that the cache has, without the fields of the subclass.
    @Test(arguments: [ValueSharing.shared, .decodedEachTime])
    func aCodableObjectOfASubclassIsNotSaved(values: ValueSharing) throws {
        let shapes = try Cache<Shape>(
            name: "shapes",
            directory: directory.url,
            settings: CacheSettings(valueSharing: values, clock: clock)
        )
        try shapes.save(Shape(), forKey: "x")
        #expect(try shapes.fetch(forKey: "x")?.name == "shape")
        let error = #expect(throws: CacheError.self) { try shapes.save(Circle(), forKey: "x") }
        #expect(error?.code == .encodingFailed)
        #expect(error?.description.contains("Circle would be decoded as") == true)
        #expect(try shapes.fetch(forKey: "x") == nil)
    }

    @Test("Any one flipped byte: counted corrupt miss")
    func anyFlippedByteIsAMissThatIsCountedAndReported() throws {
        let city = City(name: "Lavāsān", population: 18_146)
        let reports = Mutex<[CacheError]>([])
        let cities = try cache(City.self, memory: .none) { error in reports.withLock { $0.append(error) } }
        try cities.save(city, forKey: "x")
        var flips = 0
        for index in 0..<(try directory.lastEntry("cache").bytes.count) {
            for mask in variants([0x01, 0x80, 0xFF] as [UInt8], at: index) {
                // It may move the entry.
                (cities.core.store as? PackedStore)?.finishUpkeep()
                let (file, bytes) = try directory.lastEntry("cache")
                try directory.flip(file, at: bytes.lowerBound + index, mask: mask)
                #expect(try cities.fetch(forKey: "x") == nil, "byte \(index) ^ \(mask)")
                #expect(try directory.entryCount("cache") == 0)
                flips += 1
                try cities.save(city, forKey: "x")
            }
        }
        #expect(cities.statistics.corruptions == flips)
        #expect(reports.withLock { $0.count } == flips)
        #expect(reports.withLock { $0.allSatisfy { $0.code == .corrupted } })
        #expect(try cities.fetch(forKey: "x") == city)
    }

    @Test func anEntryUnderAnotherKeysNameIsNotTakenForIt() throws {
        let disk = DiskSettings(layout: .files)
        let cities = try Cache<City>(
            name: "cache",
            directory: directory.url,
            settings: CacheSettings(memory: .none, disk: disk)
        )
        try cities.save(City(name: "a", population: 1), forKey: "a")
        let file = try #require(try directory.entryFiles("cache").first)
        let bytes = try Data(contentsOf: file)
        try cities.remove(forKey: "a")
        try cities.save(City(name: "b", population: 2), forKey: "b")
        let other = try #require(try directory.entryFiles("cache").first)
        try bytes.write(to: other)
        #expect(try cities.fetch(forKey: "b") == nil)
    }

    @Test func aFolderThatIsNoCacheIsRefusedAndLeftAlone() throws {
        let folder = directory.url.appending(path: "photos")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: folder.appending(path: "mine.txt"))
        #expect(code { try cache(City.self, name: "photos") } == .invalidDirectory)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["mine.txt"])
    }

    @Test func filesAreTheUsersOwn() throws {
        let cities = try cache(City.self)
        try cities.save(City(name: "a", population: 1), forKey: "a")
        defer { withExtendedLifetime(cities) {} }
        let root = directory.url.appending(path: "cache")
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: root.appending(path: path).path)
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == (isFolder ? 0o700 : 0o600))
        }
    }

    // MARK: Statistics

    @Test func statisticsCountWhatWasDone() throws {
        let cities = try cache(City.self, memory: MemorySettings(countLimit: 1))
        try cities.save(City(name: "a", population: 1), forKey: "a")
        try cities.save(City(name: "b", population: 1), forKey: "b")
        _ = try cities.fetch(forKey: "b")
        _ = try cities.fetch(forKey: "a")
        _ = try cities.fetch(forKey: "c")
        let statistics = cities.statistics
        #expect(statistics.saves == 2)
        #expect(statistics.memoryHits == 1)
        #expect(statistics.diskHits == 1)
        #expect(statistics.misses == 1)
        #expect(statistics.memoryEvictions == 2)
    }
}

/// An object that may refer to others, and to itself.
final class Link: NSObject, NSCoding, WrapperEncoder, Encoded {
    var next: Link?
    var others: NSMutableArray?
    var owner: Owner?
    var list: [Any]?
    var value: Link? { self }
    var encoder: Link { self }

    override init() {}

    required init?(coder: NSCoder) {
        next = coder.decodeObject(forKey: "next") as? Link
        others = coder.decodeObject(forKey: "others") as? NSMutableArray
        owner = coder.decodeObject(forKey: "owner") as? Owner
        list = coder.decodeObject(forKey: "list") as? [Any]
    }

    static var allowedClasses: [AnyClass] { [Owner.self] }

    func encode(with coder: NSCoder) {
        coder.encode(next, forKey: "next")
        coder.encode(others, forKey: "others")
        coder.encode(owner, forKey: "owner")
        coder.encode(list, forKey: "list")
    }
}

/// Has a property that nothing can stand for while it is being decoded.
final class Owner: NSObject, NSCoding {
    let link: Link

    init(of link: Link) { self.link = link }

    required init?(coder: NSCoder) {
        guard let link = coder.decodeObject(forKey: "link") as? Link else { return nil }
        self.link = link
    }

    func encode(with coder: NSCoder) { coder.encode(link, forKey: "link") }
}

private class Shape: Codable, Encoded {
    var name = "shape"
}

private final class Circle: Shape {
    var radius = 1.0
}
