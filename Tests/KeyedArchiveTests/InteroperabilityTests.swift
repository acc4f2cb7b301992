import Foundation
import Testing

@testable import KeyedArchive

/// Other readers and writers of the format judge the bytes.
@Suite struct InteroperabilityTests {
    private var samples: [(name: String, data: Data)] {
        get throws {
            [
                ("point", try KeyedArchiver.archivedData(withRootObject: Point(x: 1.5, y: -2))),
                ("everything", try KeyedArchiver.archivedData(withRootObject: Everything())),
                ("subclass", try KeyedArchiver.archivedData(withRootObject: Derived(title: "Lavāsān", count: 7))),
                ("shared", try KeyedArchiver.archivedData(withRootObject: sharedPair)),
                ("codable", try KeyedArchiver.archivedData(encoding: Samples.city)),
                ("many", try KeyedArchiver.archivedData(encoding: (0..<2_000).map { Mayor(name: "n", since: $0) })),
            ]
        }
    }

    private var sharedPair: Pair {
        let base = Base(title: "one")
        return Pair(base, base)
    }

    // MARK: Foundation

    private func foundation<T: NSObject & NSCoding>(_ type: T.Type, _ data: Data) throws -> T? {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
        unarchiver.requiresSecureCoding = false
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let object = unarchiver.decodeObject(forKey: NSKeyedArchiveRootObjectKey) as? T
        if let error = unarchiver.error { throw error }
        return object
    }

    @Test func foundationReadsWhatWeWrite() throws {
        let point = try foundation(Point.self, KeyedArchiver.archivedData(withRootObject: Point(x: 1.5, y: -2)))
        #expect(point?.x == 1.5)
        #expect(point?.y == -2)

        let derived = try foundation(
            Derived.self,
            KeyedArchiver.archivedData(withRootObject: Derived(title: "Lavāsān", count: 7))
        )
        #expect(derived?.title == "Lavāsān")
        #expect(derived?.count == 7)

        let pair = try foundation(Pair.self, KeyedArchiver.archivedData(withRootObject: sharedPair))
        #expect(pair?.first?.title == "one")
        #expect(pair?.first === pair?.second)

        let everything = try foundation(Everything.self, KeyedArchiver.archivedData(withRootObject: Everything()))
        check(try #require(everything).decoded.compactMapValues { $0 })
    }

    @Test func weReadWhatFoundationWrites() throws {
        func written(_ object: Any) throws -> Data {
            try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: false)
        }
        let point = try KeyedUnarchiver.unarchivedRoot(ofClass: Point.self, from: written(Point(x: 1.5, y: -2)))
        #expect(point.x == 1.5)
        let derived = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Base.self,
            from: written(Derived(title: "Lavāsān", count: 7))
        )
        #expect((derived as? Derived)?.count == 7)
        let pair = try KeyedUnarchiver.unarchivedRoot(
            ofClass: Pair.self,
            allowing: [Base.self],
            from: written(sharedPair)
        )
        #expect(pair.first?.title == "one")
        #expect(pair.first === pair.second)
        let everything = try KeyedUnarchiver.unarchivedRoot(ofClass: Everything.self, from: written(Everything()))
        check(everything.decoded.compactMapValues { $0 })
        #expect(
            try KeyedUnarchiver.unarchivedRoot(ofClass: [String].self, from: written(["a", "b"])) == ["a", "b"]
        )
    }

    private func check(_ values: [String: Any]) {
        #expect(values["double"] as? Double == 3.5)
        #expect(values["float"] as? Float == 1.5)
        #expect(values["int"] as? Int == -42)
        #expect(values["bool"] as? Bool == true)
        #expect(values["uint64"] as? UInt64 == 1 << 40)
        #expect(values["string"] as? String == "hello")
        #expect(values["unicode"] as? String == "Lavāsān 🏙")
        #expect(values["data"] as? Data == Data([1, 2, 3]))
        #expect(values["date"] as? Date == Everything.date)
        #expect(values["url"] as? URL == URL(string: "https://example.com/a?b=c"))
        #expect(values["uuid"] as? UUID == Everything.uuid)
        #expect(values["null"] is NSNull)
        #expect(values["strings"] as? [String] == ["a", "b"])
        #expect(values["set"] as? Set<Int> == [1, 2, 3])
        #expect(values["dictionary"] as? [String: Int] == ["x": 1, "y": 2])
        #expect((values["nested"] as? [[String: Any]])?.first?["z"] as? String == "s")
        #expect(values["nil"] == nil)
    }

    // MARK: Tools

    @Test func plutilReadsWhatWeWrite() throws {
        for sample in try samples {
            let output = try Tool.run(Tool.plutil, ["-p"], file: sample.data)
            #expect(output.contains("NSKeyedArchiver"), "\(sample.name)")
            if sample.name == "codable" { #expect(output.contains("35.82159")) }
        }
    }

    @Test func pythonReadsWhatWeWrite() throws {
        let script = """
            import plistlib, sys
            from plistlib import UID
            archive = plistlib.load(open(sys.argv[1], 'rb'))
            assert archive['$archiver'] == 'NSKeyedArchiver' and archive['$version'] == 100000
            objects = archive['$objects']
            assert objects[0] == '$null'
            root = objects[archive['$top']['root'].data]
            def references(value):
                if isinstance(value, UID): yield value.data
                elif isinstance(value, list):
                    for member in value: yield from references(member)
                elif isinstance(value, dict):
                    for member in value.values(): yield from references(member)
            for object in objects:
                for reference in references(object): assert reference < len(objects)
            name = objects[root['$class'].data]
            print(name['$classname'], name['$classes'][-1], sorted(k for k in root if k != '$class'))
            """
        for sample in try samples {
            let output = try Tool.run("python3", ["-c", script], file: sample.data)
            switch sample.name {
            case "point": #expect(output == "KeyedArchiveTests.Point NSObject ['x', 'y']\n")
            case "subclass": #expect(output == "KeyedArchiveTests.Derived NSObject ['count', 'title']\n")
            case "many": #expect(output == "NSArray NSObject ['NS.objects']\n")
            default: #expect(output.contains("NSObject"), "\(sample.name)")
            }
        }
    }
}
