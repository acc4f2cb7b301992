import Foundation
import KeyedArchive
import SequentialArchive
import TestSupport
import Testing

extension ScriptedTests {
    /// The coders with classes of users. One at a time: `Scripted` has closures for all of its objects.
    @Suite struct CoderTests {
        private func copy<T>(_ object: T, allowing classes: [AnyClass] = []) throws -> T {
            let data = try SequentialArchiver.archivedData(withRootObject: object)
            let read = try SequentialUnarchiver.unarchivedObject(ofClass: T.self, allowing: classes, from: data)
            return try #require(read)
        }

        private func code(_ body: () throws(ArchiveError) -> Void) -> ArchiveError? {
            do throws(ArchiveError) {
                try body()
                return nil
            } catch {
                return error
            }
        }

        /// The error of archiving an object; `nil` if there is none.
        private func writing(_ object: Any) -> ArchiveError? {
            code { () throws(ArchiveError) in _ = try SequentialArchiver.archivedData(withRootObject: object) }
        }

        /// The error of unarchiving an object; `nil` if there is none.
        private func reading(_ data: Data) -> ArchiveError? {
            code { () throws(ArchiveError) in _ = try SequentialUnarchiver.unarchiveObject(with: data) }
        }

        /// Encodes and decodes by closures; the error if there is one.
        private func trial(_ encoding: @escaping (NSCoder) -> Void, _ decoding: @escaping (NSCoder) -> Void)
            -> ArchiveError?
        {
            Scripted.encoding = encoding
            Scripted.decoding = {
                decoding($0)
                return true
            }
            return code { () throws(ArchiveError) in
                let data = try SequentialArchiver.archivedData(withRootObject: Scripted())
                _ = try SequentialUnarchiver.unarchivedObject(ofClass: Scripted.self, from: data)
            }
        }

        @Test func aClassThatKnowsBothWaysWorksWithBothCoders() throws {
            let place = Place(name: "Lavāsān", x: 35.82159, count: -7)
            for data in [
                try SequentialArchiver.archivedData(withRootObject: place),
                try KeyedArchiver.archivedData(withRootObject: place),
            ] {
                let read =
                    data.starts(with: "bplist".utf8)
                    ? try KeyedUnarchiver.unarchivedObject(ofClass: Place.self, from: data)
                    : try SequentialUnarchiver.unarchivedObject(ofClass: Place.self, from: data)
                #expect(read?.name == "Lavāsān")
                #expect(read?.x == 35.82159)
                #expect(read?.count == -7)
            }
        }

        @Test func aClassThatNeedsKeysIsRefusedWithAReason() throws {
            let error = writing([KeysOnly()])
            #expect(error?.code == .unsupportedType)
            #expect(error?.message.contains("allowsKeyedCoding") == true)
            #expect(error?.keyPath == ["NSArray", "SequentialArchiveTests.KeysOnly", "number"])
            let read = trial({ _ in }, { _ = $0.decodeInteger(forKey: "number") })
            #expect(read?.code == .unsupportedType)
            #expect(read?.keyPath == ["SequentialArchiveTests.Scripted", "number"])
            #expect(read?.offset != nil)
        }

        @Test func sharedObjectsAndCyclesAreRestored() throws {
            let place = Place(name: "a", x: 0, count: 1)
            let pair = try copy([place, place], allowing: [Place.self])
            #expect(pair[0] === pair[1])
            let ring = Ring()
            ring.number = 5
            ring.next = Ring()
            ring.next?.number = 6
            ring.next?.next = ring
            defer { ring.next = nil }
            let read = try copy(ring)
            #expect(read.number == 5)
            #expect(read.next?.number == 6)
            #expect(read.next?.next === read)
            read.next = nil
            // A mutable collection in one of its members is restored; one in itself, Foundation would not survive.
            let list = NSMutableArray()
            let owner = Branch("owner")
            Scripted.encoding = { coder in coder.encode(list) }
            nonisolated(unsafe) var handed: NSMutableArray?
            Scripted.decoding = { coder in
                handed = coder.decodeObject() as? NSMutableArray
                return true
            }
            list.add(Scripted())
            list.add(owner)
            let inner = try copy(list, allowing: [Scripted.self, Branch.self])
            #expect(inner.count == 2)
            #expect(handed === inner)
            handed = nil
            Scripted.encoding = { _ in }
            list.removeAllObjects()
            inner.removeAllObjects()
            let looped = try TypedStream(
                groups: [.init(types: "@", values: [.reference(0)])],
                objects: [
                    .instance(
                        .init(
                            classPlace: 1,
                            groups: [
                                .init(types: "i", values: [.integer(1)]),
                                .init(types: "@", values: [.reference(0)]),
                            ]
                        )
                    ),
                    .classDescription(.init(name: "NSMutableArray", superclass: 2)),
                    .classDescription(.init(name: "NSObject")),
                ]
            ).data()
            #expect(reading(looped)?.code == .cyclicReference)
        }

        @Test func conditionalObjectsAreThereIfSomethingElseEncodesThem() throws {
            let leaf = Branch("leaf")
            let root = Branch("root", [leaf])
            let read = try copy(root)
            #expect(read.children[0].parent === read)
            #expect(read.parent == nil)
            read.children = []
            // By itself, the leaf has no parent.
            #expect(try copy(leaf).parent == nil)
            // Met conditionally before it is met unconditionally.
            let both = try copy([leaf, root], allowing: [Branch.self])
            #expect(both[0].parent === both[1])
            #expect(both[1].children[0] === both[0])
            both[1].children = []
            root.children = []
            let archiver = SequentialArchiver()
            archiver.encodeConditionalObject(root)
            #expect((archiver.error as? ArchiveError)?.code == .encodingFailed)
        }

        @Test func classVersionsAreThoseOfTheArchive() throws {
            let leaf = Leaf("l")
            leaf.size = 300
            SequentialArchiver.setVersion(2, for: Leaf.self)
            let data = try SequentialArchiver.archivedData(withRootObject: leaf)
            #expect(try SequentialUnarchiver.unarchivedObject(ofClass: Leaf.self, from: data)?.size == 300)
            SequentialArchiver.setVersion(1, for: Leaf.self)
            let old = try SequentialArchiver.archivedData(withRootObject: leaf)
            // Version 1 had no size; the value that is there is passed over.
            #expect(try SequentialUnarchiver.unarchivedObject(ofClass: Leaf.self, from: old)?.size == 0)
            let stream = try TypedStream(data)
            #expect(
                stream.classNames(of: try #require(stream.root))
                    == ["SequentialArchiveTests.Leaf", "SequentialArchiveTests.Branch", "NSObject"]
            )
            #expect(stream.classDescription(of: try #require(stream.root))?.version == 2)
            let unarchiver = try SequentialUnarchiver(forReadingWith: data, classes: [Leaf.self])
            _ = unarchiver.decodeObject()
            #expect(unarchiver.version(forClassName: "NSString") == 1)
            #expect(unarchiver.version(forClassName: "Nobody") == NSNotFound)
            #expect(unarchiver.isAtEnd)
            #expect(unarchiver.systemVersion == 1_000)
        }

        @Test func classesMayHaveOtherNamesInArchives() throws {
            let archiver = SequentialArchiver()
            archiver.encodeClassName("SequentialArchiveTests.Place", intoClassName: "Location")
            #expect(archiver.classNameEncoded(forTrueClassName: "SequentialArchiveTests.Place") == "Location")
            archiver.encodeRootObject(Place(name: "n", x: 1, count: 2))
            let data = try archiver.encodedData
            #expect(try TypedStream(data).classNames(of: .reference(0)) == ["Location", "NSObject"])
            let refused = code { () throws(ArchiveError) in
                _ = try SequentialUnarchiver.unarchivedObject(ofClass: Place.self, from: data)
            }
            #expect(refused?.code == .classNotAllowed)
            #expect(refused?.offset == 19)
            let unarchiver = try SequentialUnarchiver(forReadingWith: data, classes: [Place.self])
            unarchiver.decodeClassName("Location", asClassName: "SequentialArchiveTests.Place")
            #expect((unarchiver.decodeObject() as? Place)?.name == "n")
            #expect(unarchiver.error == nil)
        }

        @Test func aClassNameInAnArchiveStandsForItselfUnlessAnotherWasGiven() throws {
            let data = try SequentialArchiver.archivedData(withRootObject: Place(name: "n", x: 1, count: 2))
            let unarchiver = try SequentialUnarchiver(forReadingWith: data, classes: [Place.self])
            #expect(unarchiver.classNameDecoded(forArchiveClassName: "Location") == "Location")
            unarchiver.decodeClassName("Location", asClassName: "SequentialArchiveTests.Place")
            #expect(unarchiver.classNameDecoded(forArchiveClassName: "Location") == "SequentialArchiveTests.Place")
        }

        @Test func classesThatAreNotExpectedAreNotInstantiated() throws {
            nonisolated(unsafe) var count = 0
            Scripted.encoding = { _ in }
            Scripted.decoding = { _ in
                count += 1
                return true
            }
            let data = try SequentialArchiver.archivedData(withRootObject: ["a": Scripted()])
            #expect(reading(data)?.code == .classNotAllowed)
            #expect(count == 0)
            #expect(try SequentialUnarchiver.unarchiveObject(with: data, allowing: [Scripted.self]) != nil)
            #expect(count == 1)
        }

        @Test func replacementsTakeTheirPlaces() throws {
            let old = Place(name: "old", x: 0, count: 0)
            let archiver = SequentialArchiver()
            archiver.replace(old, with: Place(name: "new", x: 0, count: 0))
            archiver.encodeRootObject([old, old])
            let data = try archiver.encodedData
            let read = try SequentialUnarchiver.unarchivedObject(
                ofClass: [Place].self,
                allowing: [Place.self],
                from: data
            )
            #expect(read?.map(\.name) == ["new", "new"])
            #expect(read?[0] === read?[1])
            let unarchiver = try SequentialUnarchiver(forReadingWith: data, classes: [Place.self])
            let list = unarchiver.decodeObject() as? [Place]
            #expect(list?.count == 2)
        }

        @Test func replacementsAreThereConditionally() throws {
            let old = Place(name: "old", x: 0, count: 0)
            let new = Place(name: "new", x: 0, count: 0)
            Scripted.decoding = { coder in
                let first = coder.decodeObject() as? Place
                #expect(first?.name == "new")
                #expect(coder.decodeObject() as? Place === first)
                return true
            }
            for isFirst in [true, false] {
                Scripted.encoding = {
                    if isFirst { $0.encodeConditionalObject(old) }
                    $0.encode(old)
                    if !isFirst { $0.encodeConditionalObject(old) }
                }
                let archiver = SequentialArchiver()
                archiver.replace(old, with: new)
                archiver.encodeRootObject(Scripted())
                let data = try archiver.encodedData
                let read = try SequentialUnarchiver.unarchiveObject(
                    with: data,
                    allowing: [Scripted.self, Place.self]
                )
                #expect(read is Scripted)
            }
        }

        @Test func valuesByTypeComeBack() throws {
            struct Mixed: Equatable {
                var flag: Int8 = -3
                var number: Int32 = 1 << 20
                var point = (Float(1.5), Float(2))
                var wide: Int64 = -5
                static func == (left: Self, right: Self) -> Bool {
                    left.flag == right.flag && left.number == right.number && left.point == right.point
                        && left.wide == right.wide
                }
            }
            let type = "{Mixed=ci{?=ff}q}"
            let error = trial(
                { coder in
                    var mixed = Mixed()
                    coder.encodeValue(ofObjCType: type, at: &mixed)
                    var numbers: [Int16] = [1, -2, 300]
                    coder.encodeArray(ofObjCType: "s", count: 3, at: &numbers)
                    "hello".withCString { text in
                        var pointer: UnsafePointer<CChar>? = text
                        coder.encodeValue(ofObjCType: "*", at: &pointer)
                        coder.encodeValue(ofObjCType: ":", at: &pointer)
                    }
                    var none: UnsafePointer<CChar>?
                    coder.encodeValue(ofObjCType: "*", at: &none)
                    var cls: AnyClass? = Scripted.self
                    coder.encodeValue(ofObjCType: "#", at: &cls)
                    coder.encodeBytes([1, 2, 3] as [UInt8], length: 3)
                    coder.encodeBytes(nil, length: 0)
                    coder.encode(Data([4, 5]))
                    coder.encodePropertyList(["k": ["é", Data([9])], "l": [String: Any]()] as [String: Any])
                    let place = Place(name: "p", x: 0, count: 0)
                    withExtendedLifetime(place) {
                        var object: UnsafeMutableRawPointer? = Unmanaged.passUnretained(place).toOpaque()
                        coder.encodeValue(ofObjCType: "@", at: &object)
                    }
                    var flag = true
                    coder.encodeValue(ofObjCType: "B", at: &flag)
                    var large = UInt64.max
                    coder.encodeValue(ofObjCType: "Q", at: &large)
                },
                { coder in
                    var mixed = Mixed(flag: 0, number: 0, point: (0, 0), wide: 0)
                    coder.decodeValue(ofObjCType: "{Mixed=ci{?=ff}q}", at: &mixed)
                    #expect(mixed == Mixed())
                    var numbers: [Int16] = [0, 0, 0]
                    coder.decodeArray(ofObjCType: "s", count: 3, at: &numbers)
                    #expect(numbers == [1, -2, 300])
                    var text: UnsafePointer<CChar>?
                    coder.decodeValue(ofObjCType: "*", at: &text)
                    #expect(text.map { String(cString: $0) } == "hello")
                    coder.decodeValue(ofObjCType: ":", at: &text)
                    #expect(text.map { String(cString: $0) } == "hello")
                    coder.decodeValue(ofObjCType: "*", at: &text)
                    #expect(text == nil)
                    var cls: AnyClass?
                    coder.decodeValue(ofObjCType: "#", at: &cls)
                    #expect(cls == Scripted.self)
                    var count = 0
                    for expected in [[1, 2, 3], []] as [[UInt8]] {
                        let bytes = (coder as? SequentialUnarchiver)?.decodeBytes(withReturnedLength: &count)
                        #expect(bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } == expected)
                    }
                    #expect(coder.decodeData() == Data([4, 5]))
                    let list = coder.decodePropertyList() as? [String: Any]
                    #expect((list?["k"] as? [Any])?[0] as? String == "é")
                    #expect((list?["k"] as? [Any])?[1] as? Data == Data([9]))
                    #expect((list?["l"] as? [String: Any])?.isEmpty == true)
                    #expect((coder.decodeObject() as? Place) == nil)
                }
            )
            // `Place` is not among the classes expected.
            #expect(error?.code == .classNotAllowed)
        }

        @Test func valuesOfApplesGroupsAreTakenApart() throws {
            let name = "SequentialArchiveTests.Scripted"
            func stream(_ groups: [TypedStream.Group]) throws -> Data {
                try TypedStream(
                    groups: [.init(types: "@", values: [.reference(0)])],
                    objects: [
                        .instance(.init(classPlace: 1, groups: groups)),
                        .classDescription(.init(name: name, superclass: 2)),
                        .classDescription(.init(name: "NSObject")),
                    ]
                ).data()
            }
            Scripted.decoding = { coder in
                var point = (x: 0.0, y: 0.0)
                coder.decodeValue(ofObjCType: "{CGPoint=dd}", at: &point)
                #expect(point == (1, 0.5))
                coder.decodeValue(ofObjCType: "d", at: &point.y)
                coder.decodeValue(ofObjCType: "d", at: &point.x)
                #expect(point == (4.5, 3))
                var first: Int64 = 0
                var second: UInt8 = 0
                coder.decodeValue(ofObjCType: "q", at: &first)
                coder.decodeValue(ofObjCType: "C", at: &second)
                #expect(first == -5)
                #expect(second == 200)
                return true
            }
            let data = try stream([
                .init(types: "{?=ff}", values: [.structure([.integer(1), .float(0.5)])]),
                .init(types: "{_NSSize=ff}", values: [.structure([.integer(3), .float(4.5)])]),
                .init(types: "iI", values: [.integer(-5), .integer(200)]),
            ])
            #expect(try SequentialUnarchiver.unarchivedObject(ofClass: Scripted.self, from: data) != nil)
        }

        @Test func theWrongTypeOrOrderIsAnErrorWithItsPlace() throws {
            var number: Int32 = 1 << 20
            let encoding: (NSCoder) -> Void = { coder in
                coder.encodeValue(ofObjCType: "i", at: &number)
                coder.encode("text" as Any?)
            }
            let wrongs: [(ArchiveError.Code, (NSCoder) -> Void)] = [
                (.typeMismatch, { _ = $0.decodeObject() }),
                (
                    .typeMismatch,
                    { coder in
                        var value = 0.0
                        coder.decodeValue(ofObjCType: "d", at: &value)
                    }
                ),
                (
                    .outOfRange,
                    { coder in
                        var value: Int16 = 0
                        coder.decodeValue(ofObjCType: "s", at: &value)
                    }
                ),
                (
                    .missingValue,
                    { coder in
                        var value: Int32 = 0
                        coder.decodeValue(ofObjCType: "i", at: &value)
                        _ = coder.decodeObject()
                        _ = coder.decodeObject()
                    }
                ),
                (
                    .typeMismatch,
                    { coder in
                        var values: [Int32] = [0, 0]
                        coder.decodeArray(ofObjCType: "i", count: 2, at: &values)
                    }
                ),
            ]
            for (index, (code, decoding)) in wrongs.enumerated() {
                let error = trial(encoding, decoding)
                #expect(error?.code == code, "\(index): \(String(describing: error))")
                #expect(error?.offset != nil)
                #expect(error?.keyPath == ["SequentialArchiveTests.Scripted"])
            }
            var union = 0
            #expect(trial({ $0.encodeValue(ofObjCType: "(u=i)", at: &union) }, { _ in })?.code == .unsupportedType)
            Scripted.encoding = { _ in }
            Scripted.decoding = { _ in false }
            let data = try SequentialArchiver.archivedData(withRootObject: Scripted())
            let nothing = code { () throws(ArchiveError) in
                _ = try SequentialUnarchiver.unarchivedObject(ofClass: Scripted.self, from: data)
            }
            #expect(nothing?.code == .decodingFailed)
        }

        @Test func anObjectThatWasPassedOverIsFoundWhenItIsReferredTo() throws {
            // The first object leaves out its parts; the second one refers to the inner one, then to the outer one.
            let inner = Place(name: "inner", x: 1, count: 1)
            let outer: [Any] = [inner, "between", [inner, "x"]]
            Scripted.decoding = { _ in true }
            let list = outer as NSArray
            Scripted.encoding = { coder in coder.encode(list) }
            let data = try SequentialArchiver.archivedData(
                withRootObject: [Scripted(), inner, list, inner, "end"] as [Any]
            )
            let read = try SequentialUnarchiver.unarchivedObject(
                ofClass: [Any].self,
                allowing: [Scripted.self, Place.self],
                from: data
            )
            let place = try #require(read?[1] as? Place)
            #expect(place.name == "inner")
            #expect((read?[2] as? [Any])?[0] as? Place === place)
            #expect((read?[2] as? [Any])?[1] as? String == "between")
            #expect(((read?[2] as? [Any])?[2] as? [Any])?[0] as? Place === place)
            #expect(read?[3] as? Place === place)
            #expect(read?[4] as? String == "end")
        }

        @Test func everyFoundationValueComesBack() throws {
            let text = NSMutableAttributedString(string: "one two one")
            text.setAttributes([NSAttributedString.Key("a"): "1"], range: NSRange(location: 0, length: 3))
            text.setAttributes([NSAttributedString.Key("b"): 2], range: NSRange(location: 3, length: 5))
            text.setAttributes([NSAttributedString.Key("a"): "1"], range: NSRange(location: 8, length: 3))
            let values: [Any] = [
                "text", NSMutableString(string: "m"), true, -1, 1 << 40, UInt64.max, 0.1, Float(0.1), -0.0,
                Date.distantPast,
                Data(repeating: 7, count: 300), NSMutableData(data: Data([1])), NSNull(),
                URL(string: "https://a.b/c")!,
                URL(string: "d", relativeTo: URL(string: "https://a.b/")!)!, Set([1, 2]), ["k": "v"], [Any](), text,
                NSMutableDictionary(dictionary: ["a": 1]), NSMutableSet(set: [1]), UInt8(200), Int8(-9), Int16(9),
                UInt32(7),
            ]
            let read = try copy(values)
            #expect(read.count == values.count)
            for (one, two) in zip(values, read) {
                #expect((one as AnyObject) as? NSObject == (two as AnyObject) as? NSObject, "\(one)")
            }
            #expect((read[8] as? Double)?.sign == .minus)
            let attributed = try #require(read[18] as? NSMutableAttributedString)
            #expect(attributed == text)
        }

        @Test func valuesWithoutAFormAreRefused() {
            for value in [
                UUID(), Decimal(1), NSDecimalNumber.one, NSCountedSet(), DateFormatter(), IndexSet(),
            ] as [Any] {
                #expect(writing(value)?.code == .unsupportedType, "\(type(of: value))")
            }
        }

        @Test func deepGraphsAreRefusedBothWays() throws {
            var ring = Ring()
            for _ in 0..<5_000 {
                let outer = Ring()
                outer.next = ring
                ring = outer
            }
            #expect(writing(ring)?.code == .limitExceeded)
            // Freed one by one: a chain would be freed by recursion.
            while let next = ring.next {
                ring.next = nil
                ring = next
            }
            var deep: Any = "leaf"
            for _ in 0..<900 { deep = [deep] }
            let data = try SequentialArchiver.archivedData(withRootObject: deep)
            #expect(try SequentialUnarchiver.unarchiveObject(with: data) != nil)
            let limits = ArchiveLimits(depth: 100)
            let unarchiver = try SequentialUnarchiver(forReadingWith: data, limits: limits)
            _ = unarchiver.decodeObject()
            #expect((unarchiver.error as? ArchiveError)?.code == .limitExceeded)
        }

        @Test func listsThatDoubleAreRefused() throws {
            // 40 lists, each with the one before twice: 2^40 members for a cast.
            var objects: [TypedStream.Object] = [
                .classDescription(.init(name: "NSArray", superclass: 1)),
                .classDescription(.init(name: "NSObject")),
                .instance(.init(classPlace: 0, groups: [.init(types: "i", values: [.integer(0)])])),
            ]
            for _ in 0..<40 {
                let member = TypedStream.Group(types: "@", values: [.reference(objects.count - 1)])
                objects.append(
                    .instance(
                        .init(classPlace: 0, groups: [.init(types: "i", values: [.integer(2)]), member, member])
                    )
                )
            }
            let root = TypedStream.Group(types: "@", values: [.reference(objects.count - 1)])
            let data = try TypedStream(groups: [root], objects: objects).data()
            #expect(data.count < 1_000)
            #expect(reading(data)?.code == .limitExceeded)
        }

        @Test(arguments: seeds(0..<200)) func randomGraphsComeBack(seed: Int) throws {
            var random = SeededGenerator(seed: seed)
            let rings = (0..<Int.random(in: 1...30, using: &random)).map { number in
                let ring = Ring()
                ring.number = number &* 1_000_003 &+ (seed << 20)
                return ring
            }
            for ring in rings { ring.next = rings.randomElement(using: &random) }
            defer { for ring in rings { ring.next = nil } }
            let order = (0..<60).map { _ in Int.random(in: 0..<rings.count, using: &random) }
            let read = try copy(order.map { rings[$0] }, allowing: [Ring.self])
            defer { for ring in read { ring.next = nil } }
            var places: [ObjectIdentifier: Int] = [:]
            var pending = zip(order, read).map { (rings[$0], $1) }
            while let (one, two) = pending.popLast() {
                try #require(one.number == two.number, "seed \(seed)")
                if let known = places[ObjectIdentifier(two)] {
                    #expect(known == one.number, "seed \(seed)")
                    continue
                }
                places[ObjectIdentifier(two)] = one.number
                if let next = one.next { pending.append((next, try #require(two.next, "seed \(seed)"))) }
            }
            // As many objects as before, none twice.
            #expect(Set(places.values).count == places.count, "seed \(seed)")
        }
    }
}
