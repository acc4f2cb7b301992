import Foundation
import Testing

@testable import KeyedArchive

/// The known behaviour of Foundation's keyed archivers, in this package's own words and with its own classes.
@Suite struct FoundationBehaviourTests {
    /// Archives the values that `body` encodes in the outermost scope.
    private func archive(_ body: (KeyedArchiver) -> Void) throws -> Data {
        let archiver = KeyedArchiver()
        body(archiver)
        return try archiver.encodedData
    }

    private func copy<T>(_ object: T, of classes: [AnyClass] = []) throws -> T {
        let data = try KeyedArchiver.archivedData(withRootObject: object)
        return try KeyedUnarchiver.unarchivedRoot(ofClass: T.self, allowing: classes, from: data)
    }

    // MARK: Sizes

    /// The value encoded under `myKey`, and the length of its archive by Apple's archiver.
    private static let sizes: [(name: String, bytes: Int, encode: @Sendable (KeyedArchiver) -> Void)] = [
        ("nothing", 124, { _ in }),
        ("nil", 136, { $0.encode(nil as Any?, forKey: "myKey") }),
        ("one byte", 136, { $0.encode(123, forKey: "myKey") }),
        ("two bytes", 137, { $0.encode(30_000, forKey: "myKey") }),
        ("four bytes", 139, { $0.encode(Int32.max, forKey: "myKey") }),
        ("below zero", 143, { $0.encode(-5, forKey: "myKey") }),
        ("far below zero", 143, { $0.encode(Int32.min, forKey: "myKey") }),
        ("eight bytes", 143, { $0.encode(Int64.max, forKey: "myKey") }),
        ("Boolean", 135, { $0.encode(true, forKey: "myKey") }),
        ("double", 143, { $0.encode(-91.73, forKey: "myKey") }),
        ("float", 139, { $0.encode(Float(3.14159), forKey: "myKey") }),
        ("10 bytes", 145, { encode("abcdefghij", in: $0, forKey: "myKey") }),
        ("15 bytes", 152, { encode("abcdefghijklmno", in: $0, forKey: "myKey") }),
        ("25 bytes", 162, { encode("abcdefghijklmopqrstuvwzyz", in: $0, forKey: "myKey") }),
        (
            "the same bytes twice", 201,
            {
                encode("abcdefghijklmopqrstuvwzyz", in: $0, forKey: "myKey")
                encode("abcdefghijklmopqrstuvwzyz", in: $0, forKey: "myKey2")
            }
        ),
        ("string", 147, { $0.encode("myString", forKey: "myKey") }),
        ("string outside ASCII", 173, { $0.encode("myStß©∆¬ååœ∑ring", forKey: "myKey") }),
        ("number", 140, { $0.encode(NSNumber(value: 123), forKey: "myKey") }),
        ("real number", 147, { $0.encode(NSNumber(value: 1_234_567.5), forKey: "myKey") }),
        ("data", 142, { $0.encode(NSData(data: Data("abc".utf8)), forKey: "myKey") }),
        ("null", 211, { $0.encode(NSNull(), forKey: "myKey") }),
        ("date", 233, { $0.encode(NSDate(timeIntervalSince1970: 131_180_400), forKey: "myDate") }),
        ("array", 261, { $0.encode(["one", "two", "three"], forKey: "myKey") }),
        ("array in an array", 261, { $0.encode([[170, 187]], forKey: "myKey") }),
        ("set", 245, { $0.encode(Set(["abc", "xyz"]), forKey: "myKey") }),
        ("no entries", 252, { $0.encode(NSDictionary(), forKey: "myKey") }),
        ("one entry", 282, { $0.encode(["myDictKey": "myValue"], forKey: "myKey") }),
        (
            "three entries", 380,
            {
                let entries = ["myDictKey": "myValue", "keyTwo": "valueTwo", "keyThree": "valueThree"]
                $0.encode(entries, forKey: "myKey")
            }
        ),
        (
            "one number twice", 153,
            {
                let number = NSNumber(value: 123)
                $0.encode(number, forKey: "myKey")
                $0.encode(number, forKey: "myKey2")
            }
        ),
        ("root number", 139, { $0.encode(123 as Any, forKey: "root") }),
        ("root string", 145, { $0.encode("abcdefg", forKey: "root") }),
        ("root array", 252, { $0.encode([4, 5, 6], forKey: "root") }),
        ("root dictionary", 287, { $0.encode(["abc": 4, "def": 9], forKey: "root") }),
        ("root date", 231, { $0.encode(Date(timeIntervalSince1970: 1_387_931_403), forKey: "root") }),
        ("root nil", 135, { $0.encode(nil as Any?, forKey: "root") }),
        ("the text that stands for nil", 235, { $0.encode("$null", forKey: "myKey") }),
    ]

    private static func encode(_ text: String, in archiver: KeyedArchiver, forKey key: String) {
        let bytes = Array(text.utf8)
        bytes.withUnsafeBufferPointer {
            archiver.encodeBytes($0.baseAddress, length: $0.count, forKey: key)
        }
    }

    /// Our archive may have one more string, `$class`, which is there even if no object has a class. It is shorter if
    /// it has a class, because Apple's archiver may write the name twice, or equal references, because Apple's archiver
    /// repeats them.
    @Test(arguments: sizes.indices) func archivesAreNoLongerThanApples(index: Int) throws {
        let (name, bytes, encode) = Self.sizes[index]
        let data = try archive(encode)
        let hasClasses = try ArchiveTree([UInt8](data)).objects.contains {
            if case .classDescription = $0 { true } else { false }
        }
        #expect(data.count <= bytes + (hasClasses ? 0 : 8), "\(name)")
        #expect(data.count >= bytes - 20, "\(name)")
    }
}

// MARK: Keys

extension FoundationBehaviourTests {
    @Test func eachScalarIsUnderItsOwnKeyAndOthersAreZero() throws {
        let data = try archive {
            $0.encode(3.14, forKey: "double")
            $0.encode(Float(-30.5), forKey: "float")
            $0.encode(987, forKey: "integer")
        }
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
        #expect(unarchiver.decodeDouble(forKey: "another") == 0)
        #expect(unarchiver.decodeObject(forKey: "another") == nil)
        #expect(!unarchiver.containsValue(forKey: "another"))
        #expect(unarchiver.decodeDouble(forKey: "double") == 3.14)
        #expect(unarchiver.decodeFloat(forKey: "float") == -30.5)
        #expect(unarchiver.decodeInteger(forKey: "integer") == 987)
        try unarchiver.finishDecoding()
    }

    @Test func theLastValueOfAKeyCounts() throws {
        let data = try archive {
            $0.encode(3.14, forKey: "key")
            $0.encode(9.5, forKey: "key")
        }
        #expect(try KeyedUnarchiver(forReadingFrom: data).decodeDouble(forKey: "key") == 9.5)
    }

    @Test func keysMayBeginWithTheArchivesOwnSign() throws {
        final class Escaped: NSObject, NSCoding {
            var values: [String: Int] = [:]
            static let keys = ["$value", "$$value", "$class", "$0", "$", "value"]
            override init() {}
            init?(coder: NSCoder) {
                for key in Self.keys { values[key] = coder.decodeInteger(forKey: key) }
            }
            func encode(with coder: NSCoder) {
                for (index, key) in Self.keys.enumerated() { coder.encode(index + 1, forKey: key) }
            }
        }
        let back = try copy(Escaped())
        #expect(back.values == Dictionary(uniqueKeysWithValues: zip(Escaped.keys, 1...)))
    }

    @Test func bytesComeBackWithTheirLength() throws {
        for length in [0, 1, 10, 14, 15, 25, 255, 256, 70_000] {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            let data = try archive { archiver in
                bytes.withUnsafeBufferPointer {
                    archiver.encodeBytes($0.baseAddress, length: $0.count, forKey: "key")
                }
            }
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
            #expect(unarchiver.containsValue(forKey: "key"))
            let back = unarchiver.withDecodedUnsafeBufferPointer(forKey: "key") { $0.map(Array.init) }
            #expect(back == bytes)
            #expect(unarchiver.withDecodedUnsafeBufferPointer(forKey: "another") { $0 == nil })
            try unarchiver.finishDecoding()
        }
    }

    @Test func valuesWithoutKeysComeBackInOrderBesideThoseWithKeys() throws {
        let data = try archive {
            $0.encode("first" as Any?)
            $0.encode(7, forKey: "key")
            $0.encodeRootObject(["second"])
            $0.encode(Data([1, 2]))
        }
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
        #expect(unarchiver.decodeObject() as? String == "first")
        #expect(unarchiver.decodeObject() as? [String] == ["second"])
        #expect(unarchiver.decodeInteger(forKey: "key") == 7)
        #expect(unarchiver.decodeData() == Data([1, 2]))
        #expect(unarchiver.decodeObject() == nil)
    }

    @Test func nilIsThereAndDecodesToNil() throws {
        let data = try archive { $0.encode(nil as Any?, forKey: "key") }
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
        #expect(unarchiver.containsValue(forKey: "key"))
        #expect(unarchiver.decodeObject(forKey: "key") == nil)
        #expect(unarchiver.decodeInteger(forKey: "key") == 0)
        try unarchiver.finishDecoding()
    }
}

// MARK: Objects

extension FoundationBehaviourTests {
    /// Counts how often it is coded; one test uses it.
    private final class Counted: NSObject, NSCoding {
        nonisolated(unsafe) static var encodings = 0
        nonisolated(unsafe) static var decodings = 0
        var text: String

        init(_ text: String) { self.text = text }

        init?(coder: NSCoder) {
            Counted.decodings += 1
            text = coder.decodeObject(forKey: "text") as? String ?? ""
        }

        func encode(with coder: NSCoder) {
            Counted.encodings += 1
            coder.encode(text, forKey: "text")
        }
    }

    @Test func anObjectIsCodedOnceHoweverOftenItIsReferredTo() throws {
        let object = Counted("one")
        let data = try archive {
            $0.encode(object, forKey: "first")
            $0.encode([object, object], forKey: "second")
            $0.encode(["key": object], forKey: "third")
        }
        #expect(Counted.encodings == 1)
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Counted.self])
        let first = try #require(unarchiver.decodeObject(forKey: "first") as? Counted)
        let second = try #require(unarchiver.decodeObject(forKey: "second") as? [Counted])
        let third = try #require(unarchiver.decodeObject(forKey: "third") as? [String: Counted])
        #expect(first.text == "one")
        #expect(second.count == 2 && second.allSatisfy { $0 === first })
        #expect(third["key"] === first)
        #expect(Counted.decodings == 1)
    }

    @Test func equalMutableObjectsStayTwo() throws {
        let pair = [NSMutableArray(array: ["a"]), NSMutableArray(array: ["a"])]
        let back = try copy(pair)
        back[0].add("b")
        #expect(back[1] == ["a"])
        let texts = try copy([NSMutableString(string: "a"), NSMutableString(string: "a")])
        texts[0].append("b")
        #expect(texts[1] == "a")
    }

    @Test func mutableObjectsAreMutableAgain() throws {
        #expect(try copy(NSMutableArray(array: [1, 2])) == [1, 2])
        #expect(try copy(NSMutableDictionary(dictionary: ["a": 1])) == ["a": 1])
        #expect(try copy(NSMutableSet(array: [1, 2])) == NSMutableSet(array: [2, 1]))
        #expect(try copy(NSMutableString(string: "text")) == "text")
        #expect(try copy(NSMutableData(data: Data([1]))) == NSMutableData(data: Data([1])))
    }

    @Test func nullIsOneObject() throws {
        let back = try copy([NSNull(), NSNull(), "x"] as [Any])
        #expect(back.count == 3)
        #expect(back[0] as? NSNull == NSNull())
        #expect(back[1] is NSNull)
    }

    @Test func booleansAreNoNumbersAndTheOtherWayRound() throws {
        let values: [Any] = [true, false, 0, 1, NSNumber(value: true), NSNumber(value: 1)]
        let data = try KeyedArchiver.archivedData(withRootObject: values)
        let again = try KeyedArchiver.archivedData(
            withRootObject: KeyedUnarchiver.unarchivedRoot(ofClass: [Any].self, from: data)
        )
        for data in [data, again] {
            let tree = try ArchiveTree([UInt8](data))
            var kinds: [String] = []
            guard case .instance(let root) = tree.objects[1], case .array(let members)? = root.fields.first?.value
            else { return #expect(Bool(false), "no array") as Void }
            for case .reference(let uid) in members {
                switch tree.objects[uid] {
                case .value(.bool(let value)): kinds.append("\(value)")
                case .value(.integer(let value)): kinds.append("\(value)")
                default: kinds.append("?")
                }
            }
            #expect(kinds == ["true", "false", "0", "1", "true", "1"])
        }
    }

    @Test func numbersKeepTheirValueAtTheEndsOfTheirTypes() throws {
        let numbers: [NSNumber] = [
            .init(value: Int8.min), .init(value: UInt8.max), .init(value: Int16.min), .init(value: UInt16.max),
            .init(value: Int32.min), .init(value: UInt32.max), .init(value: Int64.min), .init(value: Int64.max),
            .init(value: UInt64.max), .init(value: Float.greatestFiniteMagnitude),
            .init(value: Double.leastNonzeroMagnitude), .init(value: -0.0), .init(value: Double.infinity),
        ]
        #expect(try copy(numbers) == numbers)
        #expect(try copy([Double.nan])[0].isNaN)
        #expect(try copy([-0.0])[0].sign == .minus)
    }

    @Test func whatJSONMakesCanBeArchived() throws {
        let text = #"{"args": {}, "headers": {"Accept": "*/*"}, "list": [1, 2.5, true, null, "x"], "origin": ""}"#
        let json = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
        #expect(try copy(json) == json)
    }

    @Test func aValueAndItsObjectAreArchivedAlike() throws {
        let uuid = UUID()
        #expect(try copy(uuid) == uuid)
        #expect(try copy(uuid as NSUUID) == uuid as NSUUID)
        #expect(
            try KeyedArchiver.archivedData(withRootObject: uuid)
                == KeyedArchiver.archivedData(withRootObject: uuid as NSUUID)
        )
        let url = try #require(URL(string: "index.html", relativeTo: URL(string: "http://www.example.com")))
        #expect(try copy(url) == url)
        #expect(try copy(url).baseURL == url.baseURL)
        #expect(try copy(url as NSURL) == url as NSURL)
    }

    @Test func aSetsMembersMayBeOfSeveralClasses() throws {
        let set = NSSet(array: [
            NSNumber(value: 1_234_234), NSString(string: "text"), NSDate(timeIntervalSince1970: 1),
        ])
        #expect(try copy(set) == set)
    }

    @Test func anEmptyArchiveAnswersEveryQuestion() throws {
        let unarchiver = try KeyedUnarchiver(forReadingFrom: archive { _ in })
        #expect(unarchiver.decodeObject() == nil)
        #expect(unarchiver.decodeObject(forKey: "root") == nil)
        #expect(unarchiver.decodeInt32(forKey: "a") == 0)
        #expect(!unarchiver.decodeBool(forKey: "a"))
        try unarchiver.finishDecoding()
    }
}

// MARK: Conditional and shared objects

extension FoundationBehaviourTests {
    @Test func aParentIsThereOnlyIfItIsEncodedElsewhere() throws {
        let parent = Base(title: "parent")
        let alone = try archive { $0.encodeConditionalObject(parent, forKey: "parent") }
        let reader = try KeyedUnarchiver(forReadingFrom: alone, classes: [Base.self])
        #expect(reader.containsValue(forKey: "parent"))
        #expect(reader.decodeObject(forKey: "parent") == nil)
        for isFirst in [true, false] {
            let data = try archive {
                if isFirst { $0.encodeConditionalObject(parent, forKey: "parent") }
                $0.encode(parent, forKey: "object")
                if !isFirst { $0.encodeConditionalObject(parent, forKey: "parent") }
            }
            let reader = try KeyedUnarchiver(forReadingFrom: data, classes: [Base.self])
            let object = try #require(reader.decodeObject(forKey: "object") as? Base)
            #expect(reader.decodeObject(forKey: "parent") as? Base === object)
        }
    }

    /// `UID` numbers are given in the order in which objects are met, and a class comes after its first object.
    @Test func objectsStandInTheOrderOfApples() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: ["k": [1, Base(title: "x")] as [Any]])
        let tree = try ArchiveTree([UInt8](data))
        let objects = tree.objects.map { object -> String in
            switch object {
            case .empty: return "null"
            case .value(.string(let text)): return text
            case .value(.integer(let number)): return "\(number)"
            case .value: return "?"
            case .instance(let instance):
                let name = tree.classDescription(of: instance)?.name ?? "?"
                return name.hasSuffix("Base") ? "Base" : name
            case .classDescription: return "class"
            }
        }
        #expect(
            objects == [
                "null", "NSDictionary", "k", "NSArray", "1", "Base", "x", "class", "class", "class",
            ]
        )
    }
}
