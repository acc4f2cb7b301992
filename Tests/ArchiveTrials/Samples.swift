import Foundation
import KeyedArchive

extension Trial {
    /// Sound archives of many kinds, to begin with.
    public static func samples() throws -> [(name: String, data: Data)] {
        let root = Branch(name: "root", content: ["k": [1, 2.5, true] as [Any], "d": Date(), "n": NSNull()])
        let twig = Twig(name: "twig", content: Scalars(3))
        twig.leaves = ["a", "b", "ü"]
        twig.parent = root
        root.left = twig
        root.right = Branch(name: "right", content: twig)
        root.list = ["text", 7, Date(timeIntervalSinceReferenceDate: 0), twig]
        let shared = NSMutableArray(array: [NSMutableString(string: "m"), NSMutableData(data: Data([1, 2]))])
        let collections: [Any] = [
            shared, shared, NSMutableSet(array: [1, 2]), NSMutableDictionary(dictionary: ["a": shared]),
            Set(["x", "y"]), ["key": Data(count: 80)], Float(1.5), UInt64.max, -1, "$null", "ß",
            UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
            URL(string: "b?c#d", relativeTo: URL(string: "https://example.org/a/")) as Any,
        ]
        let deep = (0..<40).reduce(Branch(name: "end")) { inner, _ in
            let outer = Branch(name: "deep")
            outer.left = inner
            return outer
        }
        let failing = Branch(name: "failing")
        failing.left = Branch(name: "unwilling")
        let scattered = KeyedArchiver()
        scattered.encode(root, forKey: "State")
        scattered.encode(1, forKey: "integer")
        scattered.encode("unkeyed" as Any?)
        return [
            ("branch", try KeyedArchiver.archivedData(withRootObject: root)),
            ("scalars", try KeyedArchiver.archivedData(withRootObject: Scalars(-12))),
            ("collections", try KeyedArchiver.archivedData(withRootObject: collections)),
            ("deep", try KeyedArchiver.archivedData(withRootObject: deep)),
            ("failing", try KeyedArchiver.archivedData(withRootObject: failing)),
            ("scattered", try scattered.encodedData),
            ("record", try KeyedArchiver.archivedData(encoding: Record.sample(depth: 1))),
            ("records", try KeyedArchiver.archivedData(encoding: [Record.sample(depth: 0)])),
            ("form", try KeyedArchiver.archivedData(encoding: Record.sample(depth: 0).form)),
            ("dog", try KeyedArchiver.archivedData(encoding: Dog(name: "Laika"))),
            ("table", try KeyedArchiver.archivedData(encoding: ["a": [1, 2], "b": []])),
            ("optionals", try KeyedArchiver.archivedData(encoding: [1.5, nil, -0.0])),
            ("strings", try KeyedArchiver.archivedData(encoding: Set(["one", "two"]))),
            ("number", try KeyedArchiver.archivedData(encoding: UInt8(7))),
        ]
    }
}
