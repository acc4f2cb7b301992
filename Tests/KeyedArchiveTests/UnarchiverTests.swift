import Foundation
import TestSupport
import Testing

@testable import KeyedArchive

@Suite struct UnarchiverTests {
    @Test func anotherClassIsNotInstantiated() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Point(x: 1, y: 2))
        #expect(code { try KeyedUnarchiver.unarchivedRoot(ofClass: Base.self, from: data) } == .classNotAllowed)
        #expect(
            code { try KeyedUnarchiver.unarchivedRoot(ofClass: Derived.self, from: data) } == .classNotAllowed
        )
        #expect(code { try KeyedUnarchiver.unarchivedRoot(ofClass: Point.self, from: data) } == nil)
    }

    @Test func aSuperclassIsNoSubclass() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Base(title: "x"))
        #expect(
            code { try KeyedUnarchiver.unarchivedRoot(ofClass: Derived.self, from: data) } == .classNotAllowed
        )
    }

    @Test func classesInsideMustBeExpectedToo() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: Pair(Base(title: "x"), nil))
        let error = #expect(throws: ArchiveError.self) {
            try KeyedUnarchiver.unarchivedRoot(ofClass: Pair.self, from: data)
        }
        #expect(error?.code == .classNotAllowed)
        #expect(error?.keyPath == ["root", "first"])
        #expect(error?.offset != nil)
    }

    @Test func anInitializerThatRefusesIsAnError() throws {
        final class Empty: NSObject, NSCoding {
            override init() {}
            required init?(coder: NSCoder) { nil }
            func encode(with coder: NSCoder) {}
        }
        let data = try KeyedArchiver.archivedData(withRootObject: Empty())
        #expect(code { try KeyedUnarchiver.unarchivedRoot(ofClass: Empty.self, from: data) } == .decodingFailed)
    }

    @Test func nestedPrivateAndGenericClassesComeBackWhereTheyAreExpected() throws {
        class Holder<T>: NSObject, NSCoding {
            override init() {}
            required init?(coder: NSCoder) {}
            func encode(with coder: NSCoder) {}
        }
        let hidden = try KeyedArchiver.archivedData(withRootObject: Hidden())
        #expect(try KeyedUnarchiver.unarchivedRoot(ofClass: Hidden.self, from: hidden).isDecoded)
        let inner = try KeyedArchiver.archivedData(withRootObject: Outer.Inner())
        _ = try KeyedUnarchiver.unarchivedRoot(ofClass: Outer.Inner.self, from: inner)
        _ = try KeyedUnarchiver.unarchivedRoot(ofClass: Outer.self, from: inner)
        let generic = try KeyedArchiver.archivedData(withRootObject: Holder<Int>())
        _ = try KeyedUnarchiver.unarchivedRoot(ofClass: Holder<Int>.self, from: generic)
        #expect(
            code { try KeyedUnarchiver.unarchivedRoot(ofClass: Holder<String>.self, from: generic) }
                == .classNotAllowed
        )
    }

    @Test func classNamesAreThoseOfApple() {
        #expect(ArchivedClass.of(NSMutableArray.self).chain == ["NSMutableArray", "NSArray", "NSObject"])
        #expect(ArchivedClass.of(Point.self).name == "KeyedArchiveTests.Point")
        #expect(ArchivedClass.of(Outer.Inner.self).name == "_TtCC17KeyedArchiveTests5Outer5Inner")
        #expect(
            ArchivedClass.of(Derived.self).chain == [
                "KeyedArchiveTests.Derived", "KeyedArchiveTests.Base", "NSObject",
            ]
        )
        #expect(ArchivedClass.of(Hidden.self).name == "KeyedArchiveTests.Hidden")
        #expect(ArchivedClass.of(City.self).chain == ["KeyedArchiveTests.City", "NSObject"])
        struct Local {}
        #expect(ArchivedClass.of(Local.self).name == "KeyedArchiveTests.UnarchiverTests.Local")
        for name in [
            "", ".", "A.", ".A", "A.B.C", "4main", "_TtC", "_TtCC1a1b", "_TtC9999999999a", "$sSi", "A.1", "Si",
        ] {
            #expect(ClassNames.resolve(name) == nil)
        }
    }

    @Test func numbersConvertOnlyWhereNothingIsLost() {
        #expect(ArchivedNumber.integer(1 << 40).integer(Int32.self) == nil)
        #expect(ArchivedNumber.double(2).integer(Int.self) == 2)
        #expect(ArchivedNumber.double(2.5).integer(Int.self) == nil)
        #expect(ArchivedNumber.double(1e300).integer(Int.self) == nil)
        #expect(ArchivedNumber.integer(1 << 60 + 1).double == nil)
        #expect(ArchivedNumber.integer(7).double == 7)
        #expect(ArchivedNumber.double(1e300).float == nil)
        #expect(ArchivedNumber.double(0.1).float == 0.1)
        #expect(ArchivedNumber.double(.infinity).float == .infinity)
        #expect(ArchivedNumber.integer(300).bool == nil)
        #expect(ArchivedNumber.integer(1).bool == true)
        #expect(ArchivedNumber.bool(true).integer(Int.self) == 1)
    }

    @Test func garbageAndTruncationsThrow() throws {
        let archives = try [
            [UInt8](KeyedArchiver.archivedData(withRootObject: Everything())),
            [UInt8](KeyedArchiver.archivedData(encoding: Samples.city)),
        ]
        for archive in archives {
            for length in 0..<archive.count {
                let error = #expect(throws: ArchiveError.self) { try Self.read(Array(archive[..<length])) }
                #expect(error?.offset != nil)
            }
        }
        #expect(code { try Self.read(Array("not an archive at all".utf8)) } == .unknownFormat)
        #expect(code { try Self.read([]) } == .unknownFormat)
    }

    @Test func everyFlippedByteThrowsOrGivesSomeValueButNeverTraps() throws {
        let archives = try [
            [UInt8](KeyedArchiver.archivedData(withRootObject: Everything())),
            [UInt8](KeyedArchiver.archivedData(encoding: Samples.city)),
        ]
        for archive in archives {
            for index in archive.indices {
                for mask in (isLongRun ? [0x01, 0x02, 0x10, 0x40, 0x80, 0xFF] : [0x01, 0x10, 0xFF]) as [UInt8] {
                    var broken = archive
                    broken[index] ^= mask
                    do { try Self.read(broken) } catch is ArchiveError {}
                }
            }
        }
    }

    private static func read(_ bytes: [UInt8]) throws {
        do {
            _ = try KeyedUnarchiver.unarchive(Everything.self, from: bytes)
        } catch  where error.code == .classNotAllowed {
            _ = try KeyedUnarchiver.unarchive(decoding: City.self, from: bytes)
        }
    }

    @Test(arguments: ["NSMutableSet", "NSSet", "NSMutableArray", "NSArray", "NSMutableDictionary"])
    func aCollectionThatContainsItselfIsAnError(name: String) throws {
        let archiver = KeyedArchiver()
        let uid = archiver.writer.reserveObject()
        archiver.writer.pushScope()
        archiver.writer.set("NS.objects", archiver.writer.array([uid]))
        if name == "NSMutableDictionary" {
            archiver.writer.set("NS.keys", archiver.writer.array([archiver.uid(of: "key")]))
        }
        archiver.writer.popObject(uid, class: ArchivedClass(name: name))
        archiver.writer.set("root", archiver.writer.reference(to: uid))
        let data = try archiver.encodedData
        #expect(
            code { try KeyedUnarchiver.unarchivedRoot(ofClass: NSObject.self, from: data) } == .cyclicReference
        )
    }

    @Test(
        arguments: [
            (UInt32(0), [0x80, 0]), (0xFF, [0x80, 0xFF]), (0x100, [0x81, 1, 0]), (0x7FFF, [0x81, 0x7F, 0xFF]),
            (0x8000, [0x81, 0x80, 0]), (0xFFFF, [0x81, 0xFF, 0xFF]), (0x1_0000, [0x83, 0, 1, 0, 0]),
            (.max, [0x83, 0xFF, 0xFF, 0xFF, 0xFF]),
        ] as [(UInt32, [UInt8])]
    )
    func aUIDTakesAsFewBytesAsItNeeds(uid: UInt32, bytes: [UInt8]) {
        var list = BinaryPropertyListWriter()
        let reference = list.add(uid: uid)
        list.finish(top: reference)
        let written = list.bytes.withElements { Array($0) }
        // After `bplist00`.
        #expect(written.dropFirst(8).prefix(bytes.count) == bytes[...])
        // The table of one offset, and 32 bytes of sizes and counts.
        #expect(written.count == 8 + bytes.count + 1 + 32)
    }

    /// Many references to one large dictionary of the property list: little to write, much to search.
    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"), arguments: [true, false])
    func oneLargeDictionaryInManyPlacesIsNotSearchedForEver(asClass: Bool) throws {
        var list = BinaryPropertyListWriter()
        var pairs = RawBuffer<KeyedReference>(capacity: 16)
        func text(_ text: String) -> UInt32 {
            var text = text
            return text.withUTF8 { list.add(ascii: $0, as: .value) }
        }
        let count = 5_000
        let null = text("$null")
        let one = list.add(1 as Int64)
        pairs.append(
            KeyedReference(
                key: asClass ? text("$classname") : text("$class"),
                value: asClass ? text("X") : list.add(uid: 2)
            )
        )
        for index in 0..<count { pairs.append(KeyedReference(key: text("k\(index)"), value: one)) }
        let large = list.reserveContainer()
        list.fillDictionary(large, pairs, from: 0)
        pairs.truncate(to: 0)
        pairs.append(KeyedReference(key: text("$classname"), value: text("NSArray")))
        let array = list.reserveContainer()
        list.fillDictionary(array, pairs, from: 0)
        pairs.truncate(to: 0)
        pairs.append(KeyedReference(key: text("$classname"), value: text("X")))
        let named = list.reserveContainer()
        list.fillDictionary(named, pairs, from: 0)
        // Objects 3 and on: all the same, or each of a class of its own that is the same.
        let members = list.reserveContainer()
        list.fillArray(members, count: count)
        var references: [UInt32] = []
        for index in 0..<count { references.append(list.add(uid: UInt32(3 + index))) }
        for reference in references { list.addElement(reference) }
        pairs.truncate(to: 0)
        pairs.append(KeyedReference(key: text("$class"), value: list.add(uid: 1)))
        pairs.append(KeyedReference(key: text("NS.objects"), value: members))
        let root = list.reserveContainer()
        list.fillDictionary(root, pairs, from: 0)
        var table = [null, array, named]
        for index in 0..<count {
            guard asClass else {
                table.append(large)
                continue
            }
            pairs.truncate(to: 0)
            pairs.append(KeyedReference(key: text("$class"), value: list.add(uid: UInt32(3 + count + index))))
            let object = list.reserveContainer()
            list.fillDictionary(object, pairs, from: 0)
            table.append(object)
        }
        if asClass { for _ in 0..<count { table.append(large) } }
        table.append(root)
        let objects = list.reserveContainer()
        list.fillArray(objects, count: table.count)
        for reference in table { list.addElement(reference) }
        pairs.truncate(to: 0)
        pairs.append(KeyedReference(key: text("root"), value: list.add(uid: UInt32(table.count - 1))))
        let top = list.reserveContainer()
        list.fillDictionary(top, pairs, from: 0)
        pairs.truncate(to: 0)
        pairs.append(KeyedReference(key: text("$archiver"), value: text("NSKeyedArchiver")))
        pairs.append(KeyedReference(key: text("$version"), value: list.add(100_000 as Int64)))
        pairs.append(KeyedReference(key: text("$top"), value: top))
        pairs.append(KeyedReference(key: text("$objects"), value: objects))
        let whole = list.reserveContainer()
        list.fillDictionary(whole, pairs, from: 0)
        list.finish(top: whole)
        let bytes = list.bytes.withElements { Array($0) }

        struct Nothing: Decodable {}
        #expect(code { try KeyedUnarchiver.unarchive(decoding: [Nothing?].self, from: bytes) } == .limitExceeded)
        _ = code { try KeyedUnarchiver.unarchive([Any].self, from: bytes) }
        #expect(code { try ArchiveTree(bytes) } == .limitExceeded)
    }

    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func membersThatShareAHashAreNotComparedForEver() throws {
        let count = 20_000
        let numbers = (0..<count).map { Double(sign: .plus, exponent: 130, significand: 1 + Double($0) / 65_536) }
        let texts = (0..<count).map { Data(repeating: 1, count: 100) + Data("\($0)".utf8) }
        for (number, name) in ["NSSet", "NSMutableSet"].enumerated() {
            for members in variants([numbers, texts] as [[Any]], at: number) {
                let archiver = KeyedArchiver()
                let set = archiver.collection(ArchivedClass(name: name)) { list in
                    for member in members { list.append(archiver.uid(of: member)) }
                }
                archiver.writer.set("root", archiver.writer.reference(to: set))
                let data = try archiver.encodedData
                #expect(
                    code { try KeyedUnarchiver.unarchivedRoot(ofClass: NSSet.self, from: data) } == .limitExceeded
                )
            }
        }
        let sound = Set((0..<count).map { Double($0) + 0.25 })
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Set<Double>.self,
            from: KeyedArchiver.archivedData(withRootObject: sound)
        )
        #expect(back == sound)
        let words = Dictionary(uniqueKeysWithValues: (0..<count).map { ("word \($0)", $0) })
        let table = try KeyedUnarchiver.unarchivedRoot(
            ofClass: [String: Int].self,
            from: KeyedArchiver.archivedData(withRootObject: words)
        )
        #expect(table == words)
    }

    /// Foundation on Linux takes microseconds to compare data, and many sets may hold the same.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: ["NSMutableSet", "NSSet", "NSOrderedSet"])
    func dataThatSharesAHashIsComparedSoOften(name: String) throws {
        func error(_ count: Int, sets: Int) throws -> ArchiveError.Code? {
            let archiver = KeyedArchiver()
            let members = (0..<count).map { archiver.uid(of: Data(repeating: 1, count: 100) + Data("\($0)".utf8)) }
            let list = archiver.collection(.of(NSArray.self)) { list in
                for _ in 0..<sets {
                    list.append(
                        name == "NSOrderedSet"
                            ? archiver.container(ArchivedClass(name: name), of: nil) {
                                for (index, member) in members.enumerated() {
                                    archiver.writer.set("NS.object.\(index)", archiver.writer.reference(to: member))
                                }
                            } : archiver.collection(ArchivedClass(name: name)) { $0 = members }
                    )
                }
            }
            archiver.writer.set("root", archiver.writer.reference(to: list))
            let data = try archiver.encodedData
            return code { try KeyedUnarchiver.unarchivedRoot(ofClass: [Any].self, from: data) }
        }
        #expect(try error(1_024, sets: 1) == .limitExceeded)
        #expect(try error(100, sets: 500) == .limitExceeded)
        #expect(try error(200, sets: 1) == nil)
    }

    @Test func collectionsAreNoKeys() throws {
        for object in [Set([[1], [2]]), [[1]: 2], NSSet(array: [NSArray(array: [1])])] as [Any] {
            #expect(code { try KeyedArchiver.archivedData(withRootObject: object) } == .unsupportedType)
        }
        let archiver = KeyedArchiver()
        let list = archiver.collection(.of(NSArray.self)) { $0 = [] }
        let set = archiver.collection(.of(NSSet.self)) { $0 = [list] }
        archiver.writer.set("root", archiver.writer.reference(to: set))
        let data = try archiver.encodedData
        #expect(code { try KeyedUnarchiver.unarchivedRoot(ofClass: NSSet.self, from: data) } == .typeMismatch)
    }

    @Test func sharedPartsDoNotMultiplyWithoutBound() throws {
        // Each array holds the one below twenty times: 20^30 values, in a few kilobytes.
        let archiver = KeyedArchiver()
        var list = archiver.string("leaf")
        for _ in 0..<30 {
            list = archiver.collection(.of(NSArray.self)) { $0 = Array(repeating: list, count: 20) }
        }
        archiver.writer.set("root", archiver.writer.reference(to: list))
        let data = try archiver.encodedData
        #expect(data.count < 20_000)
        // The members are one object, but bridging, comparing or archiving it visits each of them.
        #expect(code { try KeyedUnarchiver.unarchivedRoot(ofClass: [Any].self, from: data) } == .limitExceeded)
        #expect(code { try KeyedUnarchiver.unarchivedRoot(ofClass: NSArray.self, from: data) } == .limitExceeded)
        // A Codable type sees each of them again.
        indirect enum Nest: Decodable {
            case leaf
            case list([Nest])
            init(from decoder: any Decoder) throws {
                if var container = try? decoder.unkeyedContainer() {
                    var members: [Nest] = []
                    while !container.isAtEnd { members.append(try container.decode(Nest.self)) }
                    self = .list(members)
                } else {
                    self = .leaf
                }
            }
        }
        #expect(code { try KeyedUnarchiver.unarchivedValue(of: Nest.self, from: data) } == .limitExceeded)
    }

    @Test(arguments: ["NSMutableArray", "NSDictionary", "NSMutableDictionary"])
    func collectionsOfEveryKindDoNotMultiplyWithoutBound(name: String) throws {
        let archiver = KeyedArchiver()
        var object = archiver.string("leaf")
        for _ in 0..<60 {
            if name == "NSMutableArray" {
                object = archiver.collection(ArchivedClass(name: name)) { $0 = [object, object] }
            } else {
                object = archiver.dictionary(ArchivedClass(name: name)) { keys, values in
                    keys = [archiver.string("a"), archiver.string("b")]
                    values = [object, object]
                }
            }
        }
        archiver.writer.set("root", archiver.writer.reference(to: object))
        let data = try archiver.encodedData
        let type: Any.Type = name == "NSMutableArray" ? NSMutableArray.self : NSDictionary.self
        func read<T>(_ type: T.Type) -> ArchiveError.Code? {
            code { try KeyedUnarchiver.unarchivedRoot(ofClass: type, from: data) }
        }
        #expect(_openExistential(type, do: read) == .limitExceeded)
    }

    @Test func objectsMayShareALargeCollection() throws {
        let table = NSMutableArray(array: Array(0..<1_000))
        let rows = (0..<1_000).map { row -> [String: Any] in ["table": table, "row": row, "name": "row \(row)"] }
        let back = try KeyedUnarchiver.unarchivedRoot(
            ofClass: [[String: Any]].self,
            from: KeyedArchiver.archivedData(withRootObject: rows)
        )
        #expect(back.count == 1_000)
        #expect((back[999]["table"] as? NSMutableArray)?.count == 1_000)
    }
}

private final class Hidden: NSObject, NSCoding {
    var isDecoded = false
    override init() {}
    required init?(coder: NSCoder) { isDecoded = true }
    func encode(with coder: NSCoder) {}
}

class Outer: NSObject, NSCoding {
    override init() {}
    required init?(coder: NSCoder) {}
    func encode(with coder: NSCoder) {}

    final class Inner: Outer {}
}
