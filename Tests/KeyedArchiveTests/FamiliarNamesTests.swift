import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

// With these two words replaced, code that was written for Foundation's coders compiles and does the same.
private typealias NSKeyedArchiver = KeyedArchiver
private typealias NSKeyedUnarchiver = KeyedUnarchiver

// Apple's calls for collections take classes that support secure coding only.
private final class Title: NSObject, NSSecureCoding {
    static let supportsSecureCoding = true
    let text: String

    init(_ text: String) { self.text = text }
    init?(coder: NSCoder) { text = coder.decodeObject(forKey: "text") as? String ?? "" }
    func encode(with coder: NSCoder) { coder.encode(text, forKey: "text") }
}

@Suite struct FamiliarNamesTests {
    @Test func rootsByClassAndByKey() throws {
        let data = try NSKeyedArchiver.archivedData(withRootObject: Base(title: "t"), requiringSecureCoding: false)
        guard let base = try NSKeyedUnarchiver.unarchivedObject(ofClass: Base.self, from: data) else {
            Issue.record("the root is nil")
            return
        }
        #expect(base.title == "t")
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClasses: [Base.self, NSString.self], from: data) is Base)
        #expect(try NSKeyedUnarchiver.unarchiveObject(with: data, allowing: [Base.self]) is Base)
        #expect(try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data, allowing: [Base.self]) is Base)
        let empty = try NSKeyedArchiver.archivedData(withRootObject: nil as Base? as Any)
        #expect(try NSKeyedUnarchiver.unarchiveObject(with: empty) is NSNull)
    }

    @Test func collectionsOfOneClass() throws {
        let bases = try NSKeyedArchiver.archivedData(withRootObject: [Base(title: "a"), Base(title: "b")])
        #expect(try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: Base.self, from: bases)?.count == 2)
        #expect(try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClasses: [Base.self], from: bases)?.count == 2)
        #expect(throws: ArchiveError.self) {
            try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: Point.self, from: bases)
        }
        let table = try NSKeyedArchiver.archivedData(withRootObject: ["k": Base(title: "v")])
        let decoded = try NSKeyedUnarchiver.unarchivedDictionary(
            ofKeyClass: NSString.self,
            objectClass: Base.self,
            from: table
        )
        #expect(decoded?["k"]?.title == "v")
        let other = try NSKeyedUnarchiver.unarchivedDictionary(
            ofKeyClasses: [NSString.self],
            objectClasses: [Base.self],
            from: table
        )
        #expect((other?["k"] as? Base)?.title == "v")
    }

    /// A class that names a collection alone gets the property list in it, as from Foundation.
    @Test func membersOfPropertyListsNeedNoName() throws {
        let list: NSDictionary = ["a": 1, "b": "x", "c": [Data([1]), Date(timeIntervalSince1970: 0), ["d": 2.5]]]
        let data = try NSKeyedArchiver.archivedData(withRootObject: list)
        func decoded(_ classes: [AnyClass], from data: Data) throws -> NSDictionary? {
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
            unarchiver.decodingFailurePolicy = .setErrorAndReturn
            let object = unarchiver.decodeObject(of: classes, forKey: NSKeyedArchiveRootObjectKey)
            if let error = unarchiver.error { throw error }
            return object as? NSDictionary
        }
        #expect(try decoded([NSDictionary.self], from: data) == list)
        let root = try NSKeyedUnarchiver.unarchivedObject(ofClasses: [NSDictionary.self], from: data)
        #expect(root as? NSDictionary == list)
        // Foundation on Linux ends the process for an array in it.
        let flat: NSDictionary = ["a": 1, "b": "x"]
        let foundation = try Foundation.NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self],
            from: NSKeyedArchiver.archivedData(withRootObject: flat)
        )
        #expect(foundation as? NSDictionary == flat)
        // The collection itself needs one, and so do classes of the program in it.
        #expect(throws: ArchiveError.self) { try decoded([NSArray.self], from: data) }
        let mixed = try NSKeyedArchiver.archivedData(withRootObject: ["k": Base(title: "v")])
        #expect(throws: ArchiveError.self) { try decoded([NSDictionary.self], from: mixed) }
        #expect(try decoded([NSDictionary.self, Base.self], from: mixed)?.count == 1)
    }

    @Test func coderByCoder() throws {
        let data = NSMutableData()
        let archiver = NSKeyedArchiver(forWritingWith: data)
        archiver.encode(Point(x: 1, y: 2), forKey: "point")
        archiver.encode(true, forKey: "flag")
        archiver.encode(Int32(7), forKey: "int32")
        archiver.encode(Int64(8), forKey: "int64")
        archiver.encode(Float(1.5), forKey: "float")
        let bytes: [UInt8] = [1, 2, 3]
        archiver.encodeBytes(bytes, length: 3, forKey: "bytes")
        archiver.encode([Title("a")], forKey: "titles")
        archiver.encode(["k": Title("v")], forKey: "table")
        archiver.encode(NSPoint(x: 3, y: 4), forKey: "corner")
        archiver.encodeRootObject("unkeyed")
        archiver.encode("second")
        try archiver.finishEncoding()
        #expect(try archiver.encodedData == data as Data)

        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data as Data)
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        #expect(unarchiver.containsValue(forKey: "point"))
        #expect(!unarchiver.containsValue(forKey: "nothing"))
        #expect(unarchiver.decodeObject(of: Point.self, forKey: "point")?.y == 2)
        #expect(unarchiver.decodeBool(forKey: "flag"))
        #expect(unarchiver.decodeInt32(forKey: "int32") == 7)
        #expect(unarchiver.decodeInt64(forKey: "int64") == 8)
        #expect(unarchiver.decodeFloat(forKey: "float") == 1.5)
        #expect(unarchiver.withDecodedUnsafeBytes(forKey: "bytes") { $0.map { Array($0) } } == [1, 2, 3])
        #expect(unarchiver.decodeArrayOfObjects(ofClass: Title.self, forKey: "titles")?.first?.text == "a")
        #expect(unarchiver.decodeArrayOfObjects(ofClasses: [Title.self], forKey: "titles")?.count == 1)
        let table = unarchiver.decodeDictionary(
            withKeyClass: NSString.self,
            objectClass: Title.self,
            forKey: "table"
        )
        #expect(table?["k"]?.text == "v")
        #expect(unarchiver.decodePoint(forKey: "corner") == NSPoint(x: 3, y: 4))
        #expect(unarchiver.decodeObject() as? String == "unkeyed")
        #expect(unarchiver.decodeObject() as? String == "second")
        #expect(unarchiver.decodeArrayOfObjects(ofClass: Secure.self, forKey: "titles") == nil)
        #expect(unarchiver.error != nil)
    }

    @Test func severalGraphsShareTheirObjects() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        let shared = Base(title: "shared")
        archiver.encode(Pair(shared, nil), forKey: "one")
        archiver.encode(Pair(shared, shared), forKey: "two")
        let unarchiver = try NSKeyedUnarchiver(
            forReadingFrom: archiver.encodedData,
            classes: [Pair.self, Base.self]
        )
        let one = try #require(unarchiver.decodeObject(forKey: "one") as? Pair)
        let two = try #require(unarchiver.decodeObject(forKey: "two") as? Pair)
        #expect(one.first === two.second)
        try unarchiver.finishDecoding()
    }

    @Test func files() throws {
        let folder = TestDirectory.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "base.archive").path
        try NSKeyedArchiver.archiveRootObject(Base(title: "kept"), toFile: path)
        let kept = try NSKeyedUnarchiver.unarchiveObject(withFile: path, allowing: [Base.self])
        #expect((kept as? Base)?.title == "kept")
        let missing = #expect(throws: ArchiveError.self) {
            try NSKeyedUnarchiver.unarchiveObject(withFile: path + ".gone")
        }
        #expect(missing?.code == .io)
        #expect(throws: ArchiveError.self) {
            try NSKeyedArchiver.archiveRootObject("x", toFile: folder.appending(path: "no/such").path)
        }
    }

    @Test func encodingAfterTheEndIsAnErrorAndNoCrash() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encode(1, forKey: "a")
        let data = try archiver.encodedData
        archiver.encode(2, forKey: "b")
        #expect((archiver.error as? ArchiveError)?.code == .encodingFailed)
        #expect(throws: ArchiveError.self) { try archiver.encodedData }
        #expect(try KeyedUnarchiver(forReadingFrom: data).decodeInteger(forKey: "a") == 1)
    }

    @Test func conditionalReferencesInBothOrders() throws {
        for unconditionalFirst in [true, false] {
            let archiver = NSKeyedArchiver(requiringSecureCoding: false)
            let base = Base(title: "t")
            let other = Base(title: "never")
            if unconditionalFirst { archiver.encode(base, forKey: "strong") }
            archiver.encodeConditionalObject(base, forKey: "weak")
            archiver.encodeConditionalObject(other, forKey: "absent")
            if !unconditionalFirst { archiver.encode(base, forKey: "strong") }
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData, classes: [Base.self])
            let weak = unarchiver.decodeObject(forKey: "weak") as? Base
            #expect(weak?.title == "t")
            #expect(unarchiver.decodeObject(forKey: "strong") as? Base === weak)
            #expect(unarchiver.containsValue(forKey: "absent"))
            #expect(unarchiver.decodeObject(forKey: "absent") == nil)
            try unarchiver.finishDecoding()
        }
    }

    @Test func conditionalValuesAreFilledByWhateverEncodesThem() throws {
        let values: [NSObject] = [
            NSNumber(value: 5), NSUUID(), try #require(NSURL(string: "https://example.org")),
            NSMutableString(string: "text"),
        ]
        for value in values {
            let archiver = NSKeyedArchiver(requiringSecureCoding: false)
            archiver.encodeConditionalObject(value, forKey: "weak")
            archiver.encode(value, forKey: "strong")
            let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
            #expect(unarchiver.decodeObject(forKey: "strong") as? NSObject == value)
            #expect(unarchiver.decodeObject(forKey: "weak") as? NSObject == value)
        }
    }

    @Test func anArchiveThatCouldNotBeWrittenIsNotAnEmptyOne() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.outputFormat = .xml
        archiver.encode("\u{0}", forKey: "zero")
        #expect(throws: ArchiveError.self) { try archiver.finishEncoding() }
        archiver.outputFormat = .binary
        #expect(throws: ArchiveError.self) { try archiver.encodedData }
    }

    @Test func propertyListsUnderKeys() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.encodePropertyList(["a": [1, 2]], forKey: "list")
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(unarchiver.decodePropertyList(forKey: "list") as? [String: [Int]] == ["a": [1, 2]])
    }
}
