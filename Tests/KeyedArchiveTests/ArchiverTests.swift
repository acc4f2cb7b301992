import Foundation
import Synchronization
import TestSupport
import Testing

@testable import KeyedArchive

@Suite(.serialized) struct ArchiverTests {
    /// Lets `write` encode into one object, and `read` decode the same object.
    private func probe(
        _ write: @escaping (NSCoder) -> Void,
        _ read: @escaping (NSCoder) -> Void
    ) throws {
        Probe.write = write
        Probe.read = read
        defer { (Probe.write, Probe.read) = ({ _ in }, { _ in }) }
        _ = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Probe.self,
            from: KeyedArchiver.archivedData(withRootObject: Probe())
        )
    }

    @Test func scalarsComeBack() throws {
        let point = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Point.self,
            from: KeyedArchiver.archivedData(withRootObject: Point(x: 1.25, y: -.infinity))
        )
        #expect(point.x == 1.25)
        #expect(point.y == -.infinity)
    }

    @Test(arguments: [
        0, 1, -1, 127, 128, 255, 256, -128, 65_535, 65_536, 1 << 31, 1 << 32, Int64.max, Int64.min,
    ])
    func integersOfEveryWidthComeBack(value: Int64) throws {
        try probe {
            $0.encode(value, forKey: "value")
        } _: {
            #expect($0.decodeInt64(forKey: "value") == value)
            #expect(($0.decodeObject(forKey: "value") as? Int64) == value)
            #expect(($0.decodeObject(forKey: "value") as? NSNumber)?.int64Value == value)
        }
    }

    @Test func everyIntrinsicComesBackAndCasts() throws {
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Everything.self,
            from: KeyedArchiver.archivedData(withRootObject: Everything())
        ).decoded.compactMapValues { $0 }
        #expect(back["double"] as? Double == 3.5)
        #expect((back["double"] as? NSNumber)?.doubleValue == 3.5)
        #expect(back["float"] as? Float == 1.5)
        #expect(back["float"] as? Double == 1.5)
        #expect(back["int"] as? Int == -42)
        #expect(back["int"] as? Double == -42)
        #expect(back["bool"] as? Bool == true)
        #expect(back["bool"] as? Int == 1)
        #expect(back["double"] as? Float == 3.5)
        #expect(back["uint64"] as? UInt64 == 1 << 40)
        #expect(back["string"] as? String == "hello")
        #expect((back["string"] as? NSString)?.length == 5)
        #expect(back["unicode"] as? String == "Lavāsān 🏙")
        #expect(back["data"] as? Data == Data([1, 2, 3]))
        #expect(back["date"] as? Date == Everything.date)
        #expect(back["url"] as? URL == URL(string: "https://example.com/a?b=c"))
        #expect(back["uuid"] as? UUID == Everything.uuid)
        #expect(back["null"] is NSNull)
        #expect(back["strings"] as? [String] == ["a", "b"])
        #expect((back["strings"] as? NSArray)?.count == 2)
        #expect(back["set"] as? Set<Int> == [1, 2, 3])
        #expect((back["set"] as? NSSet)?.count == 3)
        #expect(back["dictionary"] as? [String: Int] == ["x": 1, "y": 2])
        #expect((back["dictionary"] as? NSDictionary)?.count == 2)
        #expect((back["nested"] as? [[String: Any]])?.first?["z"] as? String == "s")
        #expect((back["mutableString"] as? NSMutableString) == "mutable")
        #expect(back["nil"] == nil)
    }

    @Test func superclassAndSubclassShareOneScope() throws {
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Base.self,
            from: KeyedArchiver.archivedData(withRootObject: Derived(title: "Lion", count: 3))
        )
        #expect((back as? Derived)?.count == 3)
        #expect(back.title == "Lion")
    }

    @Test func objectsOfNoTypeInParticularAreArchivedAsWhatTheyAre() throws {
        let point = Point(x: 1, y: 2)
        let objects: [AnyObject] = [point, point, NSUUID(), "text" as NSString]
        let data = try KeyedArchiver.archivedData(withRootObject: objects)
        let back = try KeyedUnarchiver.unarchivedRoot(ofClass: [Any].self, allowing: [Point.self], from: data)
        #expect((back[0] as? Point)?.y == 2)
        #expect(back[0] as? Point === back[1] as? Point)
        #expect(back[3] as? String == "text")
    }

    @Test func sharedReferencesStayShared() throws {
        let base = Base(title: "one")
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Pair.self,
            allowing: [Base.self],
            from: KeyedArchiver.archivedData(withRootObject: Pair(base, base))
        )
        #expect(back.first != nil)
        #expect(back.first === back.second)
    }

    @Test func equalObjectsStayTwo() throws {
        final class Equal: NSObject {}
        let first = NSMutableString(string: "same")
        let second = NSMutableString(string: "same")
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: [NSMutableString].self,
            from: KeyedArchiver.archivedData(withRootObject: [first, second, first])
        )
        #expect(back[0] !== back[1])
        #expect(back[0] === back[2])
    }

    @Test func missingKeysGiveZeros() throws {
        try probe { _ in
        } _: {
            #expect(!$0.containsValue(forKey: "x"))
            #expect($0.decodeBool(forKey: "x") == false)
            #expect($0.decodeInteger(forKey: "x") == 0)
            #expect($0.decodeInt32(forKey: "x") == 0)
            #expect($0.decodeFloat(forKey: "x") == 0)
            #expect($0.decodeDouble(forKey: "x") == 0)
            #expect($0.decodeObject(forKey: "x") == nil)
            #expect($0.error == nil)
        }
    }

    @Test func encodedNilIsPresentAndNil() throws {
        try probe {
            $0.encode(nil as Any?, forKey: "x")
        } _: {
            #expect($0.containsValue(forKey: "x"))
            #expect($0.decodeObject(forKey: "x") == nil)
            #expect($0.decodeInteger(forKey: "x") == 0)
            #expect($0.error == nil)
        }
    }

    @Test func keysThatBeginWithADollarAreTheUsersOwn() throws {
        let keys = ["$class", "$a", "$$b", "$0", "$null", ""]
        try probe {
            for key in keys { $0.encode(key + "!", forKey: key) }
        } _: {
            for key in keys {
                #expect($0.containsValue(forKey: key))
                #expect($0.decodeObject(forKey: key) as? String == key + "!")
            }
            #expect(!$0.containsValue(forKey: "$$class"))
        }
    }

    @Test func aSecondValueUnderAKeyReplacesTheFirst() throws {
        try probe {
            $0.encode(1, forKey: "k")
            $0.encode(Point(x: 1, y: 2), forKey: "point")
            $0.encode(2, forKey: "x")
            $0.encode(3, forKey: "k")
        } _: {
            #expect($0.decodeInteger(forKey: "k") == 3)
            #expect($0.decodeInteger(forKey: "x") == 2)
        }
    }

    @Test func keysOfAnObjectDoNotMeetThoseOfItsParts() throws {
        // The part uses the same keys, between two uses by the whole.
        try probe {
            $0.encode(1, forKey: "x")
            $0.encode(Point(x: 5, y: 6), forKey: "point")
            $0.encode(7, forKey: "x")
            $0.encode(8, forKey: "y")
        } _: { coder in
            #expect(coder.decodeInteger(forKey: "x") == 7)
            #expect(coder.decodeInteger(forKey: "y") == 8)
            let point = coder.decodeObject(of: Point.self, forKey: "point")
            #expect(point?.x == 5)
            #expect(point?.y == 6)
        }
    }

    @Test func unkeyedValuesComeBackInOrder() throws {
        try probe {
            $0.encode("a" as Any?)
            $0.encode(2 as Any?)
        } _: {
            #expect($0.decodeObject() as? String == "a")
            #expect($0.decodeObject() as? Int == 2)
            #expect($0.decodeObject() == nil)
        }
    }

    @Test func conditionalObjectsAreThereOnlyIfSomethingElseEncodesThem() throws {
        let kept = Base(title: "kept")
        let dropped = Base(title: "dropped")
        Probe.read = { _ in }
        let list: [NSObject] = [kept]
        try probe {
            $0.encodeConditionalObject(kept, forKey: "early")
            $0.encodeConditionalObject(dropped, forKey: "never")
            $0.encode(list, forKey: "list")
            $0.encodeConditionalObject(kept, forKey: "late")
        } _: { coder in
            let early = coder.decodeObject(of: Base.self, forKey: "early")
            #expect(early?.title == "kept")
            #expect(coder.containsValue(forKey: "never"))
            #expect(coder.decodeObject(of: Base.self, forKey: "never") == nil)
            #expect(coder.decodeObject(of: Base.self, forKey: "late") === early)
        }
    }

    /// Foundation's values that something else encodes before or after.
    @Test func conditionalValuesAreThere() throws {
        let values: [any NSObject & NSCoding] = [
            NSString(string: "text"), NSMutableString(string: "text"), NSData(data: Data([1, 2])),
            NSMutableData(data: Data([1, 2])), NSNumber(value: 5), NSDate(timeIntervalSinceReferenceDate: 5),
            NSUUID(), NSURL(fileURLWithPath: "/a"), try #require(NSTimeZone(name: "Europe/Berlin")),
            try #require(NSTimeZone(name: "Europe/Berlin")),
        ]
        for value in values {
            for isFirst in [true, false] {
                try probe {
                    if isFirst { $0.encodeConditionalObject(value, forKey: "a") }
                    $0.encode(value, forKey: "b")
                    if !isFirst { $0.encodeConditionalObject(value, forKey: "a") }
                } _: { coder in
                    for key in ["a", "b"] {
                        let read = coder.decodeObject(forKey: key).map { ($0 as AnyObject) as? NSObject }
                        #expect(read == value, "\(type(of: value)), \(key)")
                    }
                }
                try probe {
                    if isFirst { $0.encodeConditionalObject(value) }
                    $0.encode(value)
                    if !isFirst { $0.encodeConditionalObject(value) }
                } _: { coder in
                    for _ in 0..<2 {
                        let read = coder.decodeObject().map { ($0 as AnyObject) as? NSObject }
                        #expect(read == value, "\(type(of: value))")
                    }
                }
            }
        }
    }

    @Test func theTextThatStandsForNilIsAString() throws {
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: [String].self,
            from: KeyedArchiver.archivedData(withRootObject: ["$null", "x"])
        )
        #expect(back == ["$null", "x"])
    }

    @Test func manyKeysAndObjectsComeBack() throws {
        let keys = (0..<700).map { "key\($0)" }
        try probe {
            for (index, key) in keys.enumerated() { $0.encode(NSNumber(value: index) as Any, forKey: key) }
        } _: {
            for (index, key) in keys.enumerated().reversed() {
                #expect($0.decodeObject(forKey: key) as? Int == index)
            }
            #expect(!$0.containsValue(forKey: "key700"))
        }
    }

    @Test func longListsNeedWiderReferences() throws {
        let numbers = Array(0..<70_000)
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: [Int].self,
            from: KeyedArchiver.archivedData(withRootObject: numbers)
        )
        #expect(back == numbers)
    }

    /// On a thread with ample stack: a sanitizer's frames are several times as large as others, and there the
    /// stack would end before the limit.
    @Test func deepNestingIsAnErrorAndNoCrash() {
        let outcome = Mutex<(length: Int, code: ArchiveError.Code?)?>(nil)
        withStack(kibibytes: 64 << 10) {
            let result = Result {
                let data = try KeyedArchiver.archivedData(withRootObject: Chain.make(1_000))
                var node: Node? = try KeyedUnarchiver.unarchivedRoot(ofClass: Node.self, from: data)
                var length = 0
                while let current = node {
                    length += 1
                    node = current.next
                }
                return length
            }
            let refusal = Result { try KeyedArchiver.archivedData(withRootObject: Chain.make(1_001)) }
            guard case .success(let length) = result, case .failure(let error) = refusal else { return }
            outcome.withLock { $0 = (length, (error as? ArchiveError)?.code) }
        }
        #expect(outcome.withLock { $0?.length } == 1_000)
        #expect(outcome.withLock { $0?.code } == .limitExceeded)
    }

    @Test(arguments: [128, 256, 512]) func nestingDeeperThanTheStackIsAnErrorAndNoCrash(kibibytes: Int) throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Chain.make(1_000))
        let tree = try KeyedArchiver.archivedData(encoding: Chain.tree(490))
        let codes = Mutex<[ArchiveError.Code?]>([])
        // Made and freed where there is stack for it: freeing a chain takes some for each link.
        nonisolated(unsafe) let longest = Chain.make(1_000)
        let tallest = Chain.tree(490)
        withStack(kibibytes: kibibytes) {
            codes.withLock {
                $0 = [
                    code { try KeyedArchiver.archivedData(withRootObject: longest) },
                    code { try KeyedUnarchiver.unarchivedRoot(ofClass: Node.self, from: data) },
                    code { try KeyedArchiver.archivedData(encoding: tallest) },
                    code { try KeyedUnarchiver.unarchivedValue(of: Tree.self, from: tree) },
                ]
            }
        }
        for code in codes.withLock({ $0 }) { #expect(code == nil || code == .limitExceeded) }
        #expect(codes.withLock { $0.count } == 4)
        if kibibytes == 128 { #expect(codes.withLock { $0.contains(.limitExceeded) }) }
    }

    /// On a stack that is long enough for a debug build, whose frames are several times as large: the levels are the limit.
    @Test func whatNestsAsDeepAsItMayComesBack() throws {
        let outcome = Mutex<Result<Int, any Error>?>(nil)
        withStack(kibibytes: 32_768) {
            let result = Result {
                let deepest = try #require(
                    (480...520).last { depth in
                        (try? KeyedArchiver.archivedData(encoding: Chain.tree(depth))) != nil
                    }
                )
                let data = try KeyedArchiver.archivedData(encoding: Chain.tree(deepest))
                #expect(try KeyedUnarchiver.unarchivedValue(of: Tree.self, from: data) == Chain.tree(deepest))
                return deepest
            }
            outcome.withLock { $0 = result }
        }
        #expect(try #require(outcome.withLock { $0 }).get() < 520)
    }

    @Test func whatCannotBeArchivedIsNamedWithItsKeys() {
        struct Plain {}
        let error = #expect(throws: ArchiveError.self) {
            try probe {
                $0.encode(["a": Plain()] as [String: Any], forKey: "things")
            } _: { _ in
            }
        }
        #expect(error?.code == .unsupportedType)
        #expect(error?.keyPath == ["root", "things"])
        #expect(error?.message.contains("Plain") == true)
    }

    @Test("Many small collections need no second look, one large one does, whatever its kind")
    func largeCollections() throws {
        let few = (0..<5).map { "\($0)" }
        let many = (0..<1_025).map { "\($0)" }
        let kinds: [([String]) -> Any] = [
            { Set($0) }, { Dictionary(uniqueKeysWithValues: $0.map { ($0, 1) }) }, { NSSet(array: $0) },
            { NSDictionary(dictionary: Dictionary(uniqueKeysWithValues: $0.map { ($0, 1) })) },
        ]
        for (index, kind) in kinds.enumerated() {
            let apart = (0..<300).map { _ in kind(few) }
            #expect(try !KeyedArchiver.archive(apart).mayBeRefused, "\(index)")
            #expect(try KeyedArchiver.archive([kind(many)]).mayBeRefused, "\(index)")
        }
    }
}
