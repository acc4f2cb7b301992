import Foundation
import Testing

@testable import KeyedArchive

/// A document of this process that holds objects of classes that it does not have.
private final class Document: NSObject, NSCoding {
    let title: String
    let background: Any?
    let others: [Any]

    init(title: String, background: Any?, others: [Any]) {
        self.title = title
        self.background = background
        self.others = others
    }

    init?(coder: NSCoder) {
        title = coder.decodeObject(forKey: "title") as? String ?? ""
        background = coder.decodeObject(forKey: "background")
        others = coder.decodeObject(forKey: "others") as? [Any] ?? []
    }

    func encode(with coder: NSCoder) {
        coder.encode(title, forKey: "title")
        coder.encode(background, forKey: "background")
        coder.encode(others, forKey: "others")
    }
}

@Suite struct ArchivedObjectTests {
    private static let colour = ArchiveTree.ClassDescription(
        name: "NSColor",
        chain: ["NSColor", "NSObject"],
        hints: ["NSPaint"]
    )

    private func unarchived(_ data: Data, _ classes: [AnyClass] = [Document.self, Point.self]) throws -> Any? {
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: classes)
        unarchiver.keepsUnknownClasses = true
        let root = unarchiver.decodeObject(forKey: "root")
        try unarchiver.finishDecoding()
        return root
    }

    /// An object with every kind of value, which refers to others and, through them, to itself.
    private static func sample() -> ArchivedObject {
        let space = ArchivedObject(describedClass: .init(name: "NSColorSpace"))
        let object = ArchivedObject(
            describedClass: colour,
            fields: [
                .init(key: "NSColorSpace", value: .integer(1)),
                .init(key: "NSRGB", value: .data(Data("0.5 0.5 1\0".utf8))),
                .init(key: "bool", value: .bool(true)), .init(key: "large", value: .unsigned(.max)),
                .init(key: "float", value: .float(0.1)), .init(key: "real", value: .real(2)),
                .init(key: "inline", value: .string("$null")), .init(key: "nothing", value: .reference(nil)),
                .init(key: "$$dollar", value: .reference("text")), .init(key: "$0", value: .reference(5)),
                .init(key: "$1", value: .integer(5)), .init(key: "number", value: .reference(Float(0.1))),
                .init(key: "date", value: .date(Date(timeIntervalSinceReferenceDate: 7))),
                .init(key: "NSCustomColorSpace", value: .reference(space)),
                .init(
                    key: "NS.objects",
                    value: .array([.reference(space), .reference(nil), .integer(1), .array([.reference(space)])])
                ),
                .init(key: "table", value: .dictionary([.init(key: "$class", value: .reference(space))])),
                .init(key: "list", value: .reference([1, space] as [Any])),
                .init(key: "point", value: .reference(Point(x: 1, y: 2))),
            ]
        )
        space.fields = [
            .init(key: "owner", value: .reference(object)), .init(key: "self", value: .reference(space)),
        ]
        return object
    }

    @Test func unknownClassesAreErrorsUnlessAskedFor() throws {
        let object = Self.sample()
        defer { empty(object) }
        let data = try KeyedArchiver.archivedData(withRootObject: object)
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data, classes: [Point.self])
        #expect(unarchiver.decodeObject(forKey: "root") == nil)
        #expect((unarchiver.error as? ArchiveError)?.code == .classNotAllowed)
    }

    @Test func whatIsKeptIsWrittenAsItWas() throws {
        let object = Self.sample()
        defer { empty(object) }
        let data = try KeyedArchiver.archivedData(withRootObject: object)
        let tree = try ArchiveTree(data)
        let kept = try #require(unarchived(data) as? ArchivedObject)
        defer { empty(kept) }
        #expect(kept.describedClass == Self.colour)
        #expect(kept.fields.map(\.key) == object.fields.map(\.key))
        #expect(kept["$dollar"] as? String == "text")
        #expect(kept["NSColorSpace"] as? Int64 == 1)
        #expect(kept["float"] as? Float == 0.1)
        #expect(kept["inline"] as? String == "$null")
        #expect(kept["nothing"] == nil)
        #expect(kept["$0"] as? Int == 5)
        #expect((kept["point"] as? Point)?.y == 2)
        #expect(kept.description == "<NSColor: \(object.fields.map(\.name).joined(separator: ", "))>")
        // One object stays one, and leads back.
        let space = try #require(kept["NSCustomColorSpace"] as? ArchivedObject)
        #expect(space["owner"] as? ArchivedObject === kept)
        #expect(space["self"] as? ArchivedObject === space)
        #expect((kept["list"] as? [Any])?.last as? ArchivedObject === space)

        let again = try KeyedArchiver.archivedData(withRootObject: kept)
        #expect(try ArchiveTree(again) == tree)
        #expect(again == data)
        let instance = try #require(tree.instance(.reference(1)))
        #expect(instance["NSColorSpace"] == .integer(1))
        #expect(instance["large"] == .unsigned(.max))
        #expect(instance["float"] == .float(0.1))
        #expect(instance["real"] == .real(2))
        #expect(tree.classDescription(of: instance) == Self.colour)
    }

    @Test func unknownObjectsInsideOfKnownOnes() throws {
        let object = Self.sample()
        let blank = ArchivedObject(describedClass: Self.colour)
        defer { empty(object) }
        let document = Document(title: "a", background: object, others: [object, blank, object["list"] as Any])
        let data = try KeyedArchiver.archivedData(withRootObject: document)
        let kept = try #require(unarchived(data) as? Document)
        let background = try #require(kept.background as? ArchivedObject)
        defer { empty(background) }
        #expect(kept.others.first as? ArchivedObject === background)
        #expect((kept.others[1] as? ArchivedObject)?.fields.isEmpty == true)
        let again = try KeyedArchiver.archivedData(withRootObject: kept)
        #expect(try ArchiveTree(again).isSameGraph(as: ArchiveTree(data)))
        // One class, one description, however many objects.
        let names = try ArchiveTree(again).objects.filter {
            if case .classDescription(let description) = $0 { description.name == "NSColor" } else { false }
        }
        #expect(names.count == 1)
    }

    @Test func membersOfSetsAndKeysOfDictionaries() throws {
        let object = ArchivedObject(describedClass: Self.colour)
        let data = try KeyedArchiver.archivedData(withRootObject: [object: Set([object])])
        let kept = try #require(unarchived(data) as? [AnyHashable: Any])
        let key = try #require(kept.keys.first?.base as? ArchivedObject)
        #expect((kept[key] as? Set<AnyHashable>)?.contains(key) == true)
    }

    @Test func classesThatAreThereButNotExpectedAreNotInstantiated() throws {
        let data = try KeyedArchiver.archivedData(withRootObject: [Point(x: 1, y: 2), Base(title: "b")])
        let kept = try #require(unarchived(data, [Point.self]) as? [Any])
        #expect(kept[0] is Point)
        let base = try #require(kept[1] as? ArchivedObject)
        #expect(base.describedClass.chain == ["KeyedArchiveTests.Base", "NSObject"])
        #expect(base["title"] as? String == "b")
        // A call that names classes gets only objects of these.
        let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
        unarchiver.keepsUnknownClasses = true
        #expect(unarchiver.decodeObject(of: [NSArray.self, Point.self], forKey: "root") != nil)
        let other = try KeyedUnarchiver(
            forReadingFrom: KeyedArchiver.archivedData(withRootObject: Base(title: "b"))
        )
        other.keepsUnknownClasses = true
        #expect(other.decodeObject(of: [Point.self], forKey: "root") == nil)
        #expect((other.error as? ArchiveError)?.code == .typeMismatch)
    }

    @Test func whatCannotBeDecodedIsNotDropped() throws {
        let refusing = ArchivedObject(describedClass: .init(name: "KeyedArchiveTests.Base"))
        let outer = ArchivedObject(
            describedClass: Self.colour,
            fields: [.init(key: "x", value: .reference(refusing))]
        )
        let data = try KeyedArchiver.archivedData(withRootObject: outer)
        let error = #expect(throws: ArchiveError.self) { try unarchived(data, [Base.self]) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.keyPath == ["root", "x"])
    }

    @Test func whatCannotBeWrittenIsAnError() throws {
        func code(_ fields: [ArchivedObject.Field]) -> ArchiveError.Code? {
            let object = ArchivedObject(describedClass: Self.colour, fields: fields)
            return KeyedArchiveTests.code { try KeyedArchiver.archivedData(withRootObject: object) }
        }
        #expect(code([.init(key: "$class", value: .integer(1))]) == .unsupportedType)
        #expect(code([.init(key: "x", value: .reference(Thread.current))]) == .unsupportedType)
        var deep = ArchivedObject.Value.null
        for _ in 0..<300 { deep = .array([deep]) }
        #expect(code([.init(key: "x", value: deep)]) == .limitExceeded)
        let outer = ArchivedObject(describedClass: Self.colour)
        var chain = outer
        for _ in 0..<2_000 {
            let next = ArchivedObject(describedClass: Self.colour)
            chain.fields = [.init(key: "next", value: .reference(next))]
            chain = next
        }
        #expect(KeyedArchiveTests.code { try KeyedArchiver.archivedData(withRootObject: outer) } == .limitExceeded)
        #expect(try KeyedArchiver.archive(Self.sample()).mayBeRefused)
    }

    /// Every archive of the corpus that holds, beside Foundation's plain classes, only classes that are unknown
    /// here, is kept and written again as the same graph.
    @Test(.enabled(if: Corpus.folder != nil, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
    func archivesOfOthersComeBack() throws {
        let plain: Set = [
            "NSNull", "NSMutableString", "NSMutableData", "NSDate", "NSURL", "NSUUID", "NSArray", "NSMutableArray",
            "NSSet", "NSMutableSet", "NSDictionary", "NSMutableDictionary",
        ]
        var kept = 0
        for file in try Corpus.files(in: "keyed") where !file.lastPathComponent.hasPrefix("kiler-broken") {
            let data = try Data(contentsOf: file)
            let tree = try ArchiveTree(data)
            let isMixed = tree.objects.contains { object in
                guard case .classDescription(let description) = object else { return false }
                return ArchivedClass.isIntrinsic(description.name) && !plain.contains(description.name)
            }
            // Two references to one URL come back as two equal URLs: values have no identity here.
            if isMixed || file.lastPathComponent.hasPrefix("kiler__reference") { continue }
            let unarchiver = try KeyedUnarchiver(forReadingFrom: data)
            unarchiver.keepsUnknownClasses = true
            let archiver = KeyedArchiver()
            for root in tree.roots {
                archiver.encode(unarchiver.decodeObject(forKey: root.name), forKey: root.name)
            }
            try unarchiver.finishDecoding()
            let again = try ArchiveTree(archiver.encodedData)
            let name = file.lastPathComponent
            #expect(sorted(again).isSameGraph(as: widenedIfXML(sorted(tree), data)), "\(name):\n\(again)\n\(tree)")
            kept += 1
        }
        #expect(kept > 10)
    }

    private func widenedIfXML(_ tree: ArchiveTree, _ data: Data) -> ArchiveTree {
        data.starts(with: BinaryPropertyList.magic) ? tree : widened(tree)
    }

    /// A tree with sorted sets and dictionaries: their order means nothing and differs each time.
    private func sorted(_ tree: ArchiveTree) -> ArchiveTree {
        func text(_ value: ArchiveTree.Value) -> String { "\(tree.scalar(value) ?? value)" }
        var made = tree
        for place in tree.objects.indices {
            guard case .instance(var instance) = tree.objects[place],
                let name = tree.classDescription(of: instance)?.name,
                ["NSDictionary", "NSMutableDictionary", "NSSet", "NSMutableSet"].contains(name),
                case .array(let members)? = instance["NS.objects"]
            else { continue }
            if case .array(let keys)? = instance["NS.keys"] {
                let entries = zip(keys, members).sorted { text($0.0) < text($1.0) }
                instance.fields = [
                    .init(key: "NS.keys", value: .array(entries.map(\.0))),
                    .init(key: "NS.objects", value: .array(entries.map(\.1))),
                ]
            } else {
                let sorted = members.sorted { text($0) < text($1) }
                instance.fields = [.init(key: "NS.objects", value: .array(sorted))]
            }
            made.objects[place] = .instance(instance)
        }
        return made
    }

    /// Ends the circles that an object is part of.
    private func empty(_ object: ArchivedObject) {
        let fields = object.fields
        object.fields = []
        for case .reference(let inner as ArchivedObject) in fields.map(\.value) { empty(inner) }
    }
}
