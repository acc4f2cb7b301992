import Foundation
import Testing

@testable import KeyedArchive

@Suite(.serialized) struct ClassNameTests {
    /// The class dictionaries of an archive, by name.
    private func classes(in data: Data) throws -> [String: [String: Any]] {
        let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let objects = try #require(list?["$objects"] as? [Any])
        var classes: [String: [String: Any]] = [:]
        for case let object as [String: Any] in objects {
            if let name = object["$classname"] as? String { classes[name] = object }
        }
        return classes
    }

    @Test func anArchiverMayCallAClassSomethingElse() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("App.Title", for: Base.self)
        #expect(archiver.className(for: Base.self) == "App.Title")
        archiver.encode(Base(title: "t"), forKey: "root")
        let data = try archiver.encodedData
        // As Apple's archiver has it: a renamed class does not tell its chain.
        #expect(try Set(#require(classes(in: data)["App.Title"]).keys) == ["$classname"])
        #expect(throws: ArchiveError.self) { try KeyedUnarchiver.unarchivedRoot(ofClass: Base.self, from: data) }

        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Base.self])
        unarchiver.setClass(Base.self, forClassName: "App.Title")
        #expect(unarchiver.class(forClassName: "App.Title") == Base.self)
        #expect((unarchiver.decodeObject(forKey: "root") as? Base)?.title == "t")
    }

    @Test func namesOfTheProcessHoldForEveryArchiveUntilTheyAreTakenBack() throws {
        KeyedArchiver.setClassName("Old.Point", for: Point.self)
        KeyedUnarchiver.setClass(Point.self, forClassName: "Old.Point")
        #expect(KeyedArchiver.className(for: Point.self) == "Old.Point")
        #expect(KeyedUnarchiver.class(forClassName: "Old.Point") == Point.self)
        let data = try KeyedArchiver.archivedData(withRootObject: Point(x: 1, y: 2))
        #expect(try classes(in: data)["Old.Point"] != nil)
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: Point.self, from: data).x == 1)
        // An archiver's own name goes before the process's.
        let archiver = KeyedArchiver()
        archiver.setClassName("Mine", for: Point.self)
        archiver.encode(Point(x: 1, y: 2), forKey: "root")
        #expect(try classes(in: archiver.encodedData)["Mine"] != nil)

        KeyedArchiver.setClassName(nil, for: Point.self)
        KeyedUnarchiver.setClass(nil, forClassName: "Old.Point")
        #expect(KeyedArchiver.className(for: Point.self) == nil)
        #expect(throws: ArchiveError.self) { try KeyedUnarchiver.unarchivedRoot(ofClass: Point.self, from: data) }
        let plain = try KeyedArchiver.archivedData(withRootObject: Point(x: 1, y: 2))
        #expect(try classes(in: plain)["KeyedArchiveTests.Point"]?["$classes"] != nil)
    }

    /// On Linux, Foundation is several modules; names in archives are those of Apple's platforms.
    @Test func namesOfFoundationsTypesAreThoseOfOneModule() throws {
        #expect(ArchivedClass.of(Page<Date>.self).name == "KeyedArchiveTests.Page<Foundation.Date>")
        for (name, portable) in [
            (
                "A<FoundationEssentials.Date, Swift.Array<FoundationInternationalization.Locale>>",
                "A<Foundation.Date, Swift.Array<Foundation.Locale>>"
            ),
            ("FoundationEssentials.Date", "Foundation.Date"), ("A<Foundation.URL>", "A<Foundation.URL>"),
            ("A<MyFoundationEssentials.Date>", "A<MyFoundationEssentials.Date>"),
            ("FoundationEssentials", "FoundationEssentials"), ("Foundation", "Foundation"),
        ] {
            #expect(ClassNames.portable(name) == portable)
        }
        // Archives of earlier versions have the names of the parts.
        let date = Date(timeIntervalSinceReferenceDate: 5)
        for (data, read) in [
            (
                try KeyedArchiver.archivedData(encoding: Page(item: date)),
                { data in
                    try KeyedUnarchiver.unarchivedValue(of: Page<Date>.self, from: data).item
                }
            ),
            (
                try KeyedArchiver.archivedData(withRootObject: Crate<Date>()),
                { data in
                    _ = try KeyedUnarchiver.unarchivedRoot(ofClass: Crate<Date>.self, from: data)
                    return date
                }
            ),
        ] as [(Data, (Data) throws -> Date)] {
            let list = try PropertyListSerialization.propertyList(from: data, format: nil)
            let xml = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
            let text = String(decoding: xml, as: UTF8.self)
            #if !canImport(Darwin)
                #expect(text.contains("&lt;Foundation.Date&gt;"))
            #endif
            let former = text.replacingOccurrences(of: "Foundation.Date", with: "FoundationEssentials.Date")
            #expect(try read(data) == date)
            #expect(try read(Data(former.utf8)) == date)
        }
    }

    @Test func theOwnNameIsNoRenaming() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("KeyedArchiveTests.Base", for: Base.self)
        archiver.encode(Base(title: "t"), forKey: "root")
        #expect(try classes(in: archiver.encodedData)["KeyedArchiveTests.Base"]?["$classes"] != nil)
    }

    @Test func twoClassesUnderOneNameStayTwoClassDictionaries() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("Same", for: Base.self)
        archiver.setClassName("Same", for: Point.self)
        archiver.encode([Base(title: "t"), Point(x: 1, y: 2)], forKey: "root")
        let list = try PropertyListSerialization.propertyList(from: archiver.encodedData, format: nil)
        let objects = try #require((list as? [String: Any])?["$objects"] as? [Any])
        #expect(objects.filter { ($0 as? [String: Any])?["$classname"] as? String == "Same" }.count == 2)
    }

    @Test func privateClassesTravelUnderExplicitNames() throws {
        let archiver = KeyedArchiver()
        archiver.setClassName("Secret", for: Hidden.self)
        archiver.encode([Hidden()], forKey: "root")
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData, classes: [Hidden.self])
        unarchiver.setClass(Hidden.self, forClassName: "Secret")
        #expect(unarchiver.decodeObject(forKey: "root") as? [Hidden] != nil)
    }

    @Test func aGivenClassMustBeExpectedLikeAnyOther() throws {
        let archiver = KeyedArchiver()
        archiver.encode(Base(title: "t"), forKey: "root")
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archiver.encodedData, classes: [Point.self])
        unarchiver.setClass(Base.self, forClassName: "KeyedArchiveTests.Base")
        #expect(unarchiver.decodeObject(forKey: "root") == nil)
        #expect((unarchiver.error as? ArchiveError)?.code == .classNotAllowed)
    }

    @Test func hintsStandInForAClassThatIsNotKnown() throws {
        let archiver = KeyedArchiver()
        archiver.encode(Newer(title: "t"), forKey: "root")
        let data = try archiver.encodedData
        let described = try #require(classes(in: data)["KeyedArchiveTests.Newer"])
        #expect(described["$classhints"] as? [String] == ["Nobody.Knows", "KeyedArchiveTests.Base"])
        // Where the class itself is expected it is used, elsewhere the first of its hints that is.
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: Newer.self, from: data).title == "t")
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Older.self])
        unarchiver.setClass(Older.self, forClassName: "Nobody.Knows")
        #expect((unarchiver.decodeObject(forKey: "root") as? Older)?.title == "t")
    }

    @Test func superclassesStandInOnlyWhereThatIsWanted() throws {
        let archiver = KeyedArchiver()
        let uid = archiver.writer.reserveObject()
        archiver.writer.pushScope()
        archiver.writer.set("title", archiver.writer.reference(to: archiver.uid(of: "t")))
        let chain = ["App.Special", "KeyedArchiveTests.Base", "NSObject"]
        archiver.writer.popObject(uid, class: ArchivedClass(name: "App.Special", chain: chain))
        archiver.writer.set("root", archiver.writer.reference(to: uid))
        let data = try archiver.encodedData
        for wanted in [false, true] {
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Base.self])
            unarchiver.substitutesSuperclasses = wanted
            #expect((unarchiver.decodeObject(forKey: "root") as? Base)?.title == (wanted ? "t" : nil))
        }
    }

    @Test func privateClassesOfFoundationAreWhatTheyDescendFrom() throws {
        let archiver = KeyedArchiver()
        let uid = archiver.writer.reserveObject()
        archiver.writer.pushScope()
        archiver.writer.set("NS.objects", archiver.writer.array([archiver.uid(of: "member")]))
        let chain = ["__NSArrayI_Transfer", "NSArray", "NSObject"]
        archiver.writer.popObject(uid, class: ArchivedClass(name: chain[0], chain: chain))
        archiver.writer.set("root", archiver.writer.reference(to: uid))
        #expect(
            try KeyedUnarchiver.unarchivedRoot(ofClass: [String].self, from: archiver.encodedData) == ["member"]
        )
    }

    @Test func anyClassIsInstantiatedOnlyWhereThatIsWanted() throws {
        let data = try KeyedArchiver.archivedData(
            withRootObject: Pair(Base(title: "t"), Derived(title: "u", count: 1))
        )
        for wanted in [false, true] {
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
            unarchiver.allowsAnyClass = wanted
            #expect((unarchiver.decodeObject(forKey: "root") as? Pair)?.second?.title == (wanted ? "u" : nil))
        }
    }

    @Test func aClassMayHaveAnotherDecodeForIt() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Facade(title: "t"))
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Facade.self])
        let object = try #require(unarchiver.decodeObject(forKey: "root") as? Base)
        #expect(type(of: object) == Derived.self)
    }

    // MARK: Secure coding

    @Test func secureCodingIsAskedForOnBothSides() throws {
        #expect {
            try KeyedArchiver.archivedData(withRootObject: Base(title: "t"), requiringSecureCoding: true)
        } throws: { ($0 as? ArchiveError)?.code == .classNotAllowed }
        let secure = try KeyedArchiver.archivedData(withRootObject: Secure(), requiringSecureCoding: true)
        let insecure = try KeyedArchiver.archivedData(withRootObject: Base(title: "t"))
        for (data, isRead) in [(secure, true), (insecure, false)] {
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Secure.self, Base.self])
            unarchiver.requiresSecureCoding = true
            #expect((unarchiver.decodeObject(forKey: "root") != nil) == isRead)
        }
    }

    @Test func whatIsAskedForByClassHasThatClassDownToTheMembers() throws {
        let archiver = KeyedArchiver()
        archiver.encode(["text", Date(), UUID()] as [Any], forKey: "mixed")
        archiver.encode([Base(title: "t")], forKey: "bases")
        archiver.encode("text", forKey: "text")
        archiver.encode(7 as Any, forKey: "number")
        let data = try archiver.encodedData
        func decode(_ classes: [AnyClass], _ key: String) throws -> (Any?, ArchiveError.Code?) {
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
            return (unarchiver.decodeObject(of: classes, forKey: key), (unarchiver.error as? ArchiveError)?.code)
        }
        // The classes of property lists need no name inside of a collection.
        #expect(try decode([NSArray.self, NSUUID.self], "mixed").0 != nil)
        #expect(try decode([NSArray.self, NSString.self, NSDate.self], "mixed").1 == .typeMismatch)
        #expect(try decode([NSArray.self, Base.self], "bases").0 as? [Base] != nil)
        #expect(try decode([NSArray.self, Point.self], "bases").1 == .classNotAllowed)
        #expect(try decode([NSString.self], "text").0 as? String == "text")
        #expect(try decode([NSDate.self], "text").1 == .typeMismatch)
        #expect(try decode([NSNumber.self], "number").0 as? Int == 7)
        #expect(try decode([NSString.self], "number").1 == .typeMismatch)
    }
}

private final class Hidden: NSObject, NSCoding {
    override init() {}
    required init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}

final class Newer: Base {
    override class func classFallbacksForKeyedArchiver() -> [String] { ["Nobody.Knows", "KeyedArchiveTests.Base"] }
}

final class Older: Base {}

final class Facade: Base {
    override class func classForKeyedUnarchiver() -> AnyClass { Derived.self }
}

final class Secure: NSObject, NSSecureCoding {
    static var supportsSecureCoding: Bool { true }
    override init() {}
    required init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) { coder.encode("text", forKey: "text") }
}

private struct Page<Item: Codable>: Codable { var item: Item }

private final class Crate<Item>: NSObject, NSCoding {
    override init() {}
    init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}
}
