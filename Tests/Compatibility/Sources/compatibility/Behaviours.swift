import Foundation
import KeyedArchive

/// The behaviour of both in situations where implementations are known to differ, by the names in the table.
enum Behaviours {
    static var all: [(name: String, body: (any Coders.Type) throws -> String)] {
        [
            (
                "`decodeObject` of a key that is not there",
                { coders in
                    try coders.read(coders.archive { _ in }) { "\($0.decodeObject(forKey: "a") ?? "nil")" }
                }
            ),
            (
                "the same, with the policy that is the default",
                { coders in
                    let data = try coders.archive { _ in }
                    if coders is Here.Type {
                        return try coders.read(data) { "\($0.decodeObject(forKey: "a") ?? "nil")" }
                    }
                    let unarchiver = try NSKeyedUnarchiver(forReadingFrom: data)
                    return "\(unarchiver.decodeObject(forKey: "a") ?? "nil")"
                }
            ),
            (
                "`decodeObject` of a number that was encoded inline",
                { coders in
                    try coders.read(coders.archive { $0.encode(7, forKey: "a") }) {
                        "\($0.decodeObject(forKey: "a") ?? "nil")"
                    }
                }
            ),
            (
                "a number above the type that is asked for",
                { coders in
                    try coders.read(coders.archive { $0.encode(1 << 40, forKey: "a") }) {
                        "\($0.decodeInt32(forKey: "a"))"
                    }
                }
            ),
            (
                "a real above the integer that is asked for",
                { coders in
                    try coders.read(coders.archive { $0.encode(1e300, forKey: "a") }) {
                        "\($0.decodeInteger(forKey: "a"))"
                    }
                }
            ),
            (
                "a `Double` above `Float`",
                { coders in
                    try coders.read(coders.archive { $0.encode(1e300, forKey: "a") }) {
                        "\($0.decodeFloat(forKey: "a"))"
                    }
                }
            ),
            (
                "`decodeCInt`",
                { coders in
                    #if canImport(Darwin)
                        return "7"
                    #else
                        return try coders.read(coders.archive { $0.encode(7, forKey: "a") }) {
                            "\($0.decodeCInt(forKey: "a"))"
                        }
                    #endif
                }
            ),
            (
                "a key that is encoded twice",
                { coders in
                    let data = try coders.archive {
                        $0.encode(1, forKey: "a")
                        $0.encode(2, forKey: "a")
                    }
                    return try coders.read(data) {
                        $0.decodeInteger(forKey: "a") == 2 ? "the last value" : "the first value"
                    }
                }
            ),
            (
                "keys that begin with `$`",
                { coders in
                    let data = try coders.archive { $0.encode(1, forKey: "$class") }
                    return try coders.read(data) {
                        $0.decodeInteger(forKey: "$class") == 1 ? "equal" : "another value"
                    }
                }
            ),
            (
                "an object referred to twice",
                { coders in
                    let node = Node()
                    let copy = try coders.copy([node, node] as NSArray) as? [Node]
                    return copy?.first === copy?.last && copy?.count == 2 ? "one object" : "two objects"
                }
            ),
            (
                "two equal mutable strings",
                { coders in
                    let pair = [NSMutableString(string: "a"), NSMutableString(string: "a")]
                    guard let copy = try coders.copy(pair) as? [Any], let first = copy.first as? NSMutableString
                    else {
                        return "immutable"
                    }
                    return first === copy.last as? NSMutableString ? "one object" : "two objects"
                }
            ),
            (
                "a conditional object that is encoded later",
                { coders in
                    let node = Node()
                    let data = try coders.archive {
                        $0.encodeConditionalObject(node, forKey: "a")
                        $0.encode(node, forKey: "b")
                    }
                    return try coders.read(data) {
                        let first = $0.decodeObject(forKey: "a") as? Node
                        return first != nil && first === $0.decodeObject(forKey: "b") as? Node
                            ? "one object" : "nil"
                    }
                }
            ),
            (
                "a conditional object that is never encoded",
                { coders in
                    let data = try coders.archive { $0.encodeConditionalObject(Node(), forKey: "a") }
                    return try coders.read(data) { $0.decodeObject(forKey: "a") == nil ? "nil" : "an object" }
                }
            ),
            (
                "an object that refers to itself",
                { coders in
                    let node = Node()
                    node.next = node
                    let copy = try coders.copy(node) as? Node
                    return copy != nil && copy?.next === copy ? "equal" : "another value"
                }
            ),
            (
                "a chain of 20,000 objects",
                { coders in
                    var node = Node()
                    for _ in 1..<20_000 {
                        let outer = Node()
                        outer.next = node
                        node = outer
                    }
                    return try coders.copy(node) == nil ? "nil" : "equal"
                }
            ),
            (
                "a class nested in a type",
                { coders in try coders.copy(Outer.Nested()) is Outer.Nested ? "equal" : "another value" }
            ),
            ("a generic class", { coders in try coders.copy(Box<Int>()) is Box<Int> ? "equal" : "another value" }),
            (
                "an object whose `init(coder:)` returns nil",
                { coders in try coders.copy(Holder()) == nil ? "nil" : "an object" }
            ),
            (
                "such an object in an array",
                { coders in
                    let copy = try coders.copy(["a", Holder(), "b"] as NSArray) as? [Any]
                    return "\(copy?.count ?? 0) members of 3"
                }
            ),
            (
                "a class that the program does not have",
                { coders in
                    let data = try archive([["$class": uid(2)], ["$classname": "Unheard.Of"]])
                    return try coders.read(data) { "\($0.decodeObject(forKey: "root") ?? "nil")" }
                }
            ),
            (
                "a dictionary with more keys than values",
                { coders in
                    let data = try archive([
                        ["NS.keys": [uid(3), uid(4)], "NS.objects": [uid(3)], "$class": uid(2)],
                        ["$classname": "NSDictionary"], "a", "b",
                    ])
                    return try coders.read(data) { $0.decodeObject(forKey: "root") == nil ? "nil" : "an object" }
                }
            ),
            (
                "a set in itself",
                { coders in
                    let data = try archive([
                        ["NS.objects": [uid(1)], "$class": uid(2)], ["$classname": "NSMutableSet"],
                    ])
                    return try coders.read(data) { $0.decodeObject(forKey: "root") == nil ? "nil" : "an object" }
                }
            ),
            (
                "sixty lists that hold the next one twice",
                { coders in
                    var objects: [Any] = (0..<60).map {
                        ["NS.objects": [uid($0 + 2), uid($0 + 2)], "$class": uid(62)]
                    }
                    objects += ["end", ["$classname": "NSArray"]]
                    return try coders.read(archive(objects)) {
                        $0.decodeObject(forKey: "root") as? NSArray == nil ? "nil" : "an object"
                    }
                }
            ),
            (
                "bytes that are not a property list",
                { coders in
                    try coders.read(Data("garbage".utf8)) { "\($0.decodeObject(forKey: "root") ?? "nil")" }
                }
            ),
            (
                "an archive in XML",
                { coders in
                    let data = try archive(["text"], format: .xml)
                    return try coders.read(data) {
                        "\($0.decodeObject(forKey: "root") ?? "nil")" == "text" ? "equal" : "another value"
                    }
                }
            ),
            (
                "`decodeObject(of:)` of another class",
                { coders in
                    try coders.read(coders.archive { $0.encode("a", forKey: "a") }) {
                        $0.decodeObject(of: [NSDate.self], forKey: "a") == nil ? "nil" : "the object"
                    }
                }
            ),
            (
                "an object without secure coding, required",
                { coders in "\(try coders.archiveSecurely(Node()).count) bytes" }
            ),
            (
                "`replacementObject(for:)`",
                { coders in
                    try coders.copy(Replaced()) as? String == "another" ? "is called" : "is not called"
                }
            ),
            (
                "`setClassName(_:for:)` of the archiver",
                { coders in
                    let data: Data
                    if coders is Here.Type {
                        let archiver = KeyedArchiver()
                        archiver.setClassName("Another", for: Node.self)
                        archiver.encode(Node(), forKey: "root")
                        data = try archiver.encodedData
                    } else {
                        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
                        archiver.setClassName("Another", for: Node.self)
                        archiver.encode(Node(), forKey: "root")
                        archiver.finishEncoding()
                        data = archiver.encodedData
                    }
                    return data.range(of: Data("Another".utf8)) == nil ? "has no effect" : "is followed"
                }
            ),
            (
                "encoding after the end",
                { coders in
                    if coders is Here.Type {
                        let archiver = KeyedArchiver()
                        _ = try archiver.encodedData
                        archiver.encode(1, forKey: "a")
                        if let error = archiver.error { throw error }
                    } else {
                        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
                        archiver.finishEncoding()
                        archiver.encode(1, forKey: "a")
                        if let error = archiver.error { throw error }
                    }
                    return "is ignored"
                }
            ),
        ]
    }

    private static func uid(_ number: Int) -> Any { ["CF$UID": number] }

    /// An archive by hand: its objects after `$null`, as property lists.
    private static func archive(
        _ objects: [Any],
        format: PropertyListSerialization.PropertyListFormat = .binary
    ) throws -> Data {
        let list: [String: Any] = [
            "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": ["root": uid(1)],
            "$objects": ["$null"] + objects,
        ]
        let xml = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        if format == .xml { return xml }
        // Read from XML, references become such.
        let read = try PropertyListSerialization.propertyList(from: xml, format: nil)
        return try PropertyListSerialization.data(fromPropertyList: read, format: format, options: 0)
    }
}
