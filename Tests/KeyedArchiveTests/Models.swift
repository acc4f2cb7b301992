import Foundation

// Classes as a program has them, unchanged.

final class Point: NSObject, NSCoding {
    let x: Double
    let y: Double

    init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    required init?(coder: NSCoder) {
        x = coder.decodeDouble(forKey: "x")
        y = coder.decodeDouble(forKey: "y")
    }

    func encode(with coder: NSCoder) {
        coder.encode(x, forKey: "x")
        coder.encode(y, forKey: "y")
    }
}

class Base: NSObject, NSCoding {
    var title: String

    init(title: String) { self.title = title }

    required init?(coder: NSCoder) {
        guard let title = coder.decodeObject(forKey: "title") as? String else { return nil }
        self.title = title
    }

    func encode(with coder: NSCoder) { coder.encode(title, forKey: "title") }
}

final class Derived: Base {
    var count: Int

    init(title: String, count: Int) {
        self.count = count
        super.init(title: title)
    }

    required init?(coder: NSCoder) {
        count = coder.decodeInteger(forKey: "count")
        super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(count, forKey: "count")
    }
}

/// Every kind of value that a class may hand to its coder.
final class Everything: NSObject, NSCoding {
    let decoded: [String: Any?]

    static let date = Date(timeIntervalSinceReferenceDate: 100.25)
    static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    static let keys = [
        "double", "float", "int", "bool", "uint64", "string", "unicode", "data", "date", "url", "uuid", "null",
        "strings", "set", "dictionary", "nested", "mutableString", "nil",
    ]

    override init() { decoded = [:] }

    required init?(coder: NSCoder) {
        var values: [String: Any?] = [:]
        for key in Self.keys { values[key] = coder.decodeObject(forKey: key) }
        decoded = values
    }

    func encode(with coder: NSCoder) {
        coder.encode(3.5 as Any, forKey: "double")
        coder.encode(Float(1.5) as Any, forKey: "float")
        coder.encode(-42 as Any, forKey: "int")
        coder.encode(true as Any, forKey: "bool")
        coder.encode(UInt64(1 << 40) as Any, forKey: "uint64")
        coder.encode("hello", forKey: "string")
        coder.encode("Lavāsān 🏙", forKey: "unicode")
        coder.encode(Data([1, 2, 3]) as Any, forKey: "data")
        coder.encode(Self.date as Any, forKey: "date")
        coder.encode(URL(string: "https://example.com/a?b=c") as Any, forKey: "url")
        coder.encode(Self.uuid as Any, forKey: "uuid")
        coder.encode(NSNull(), forKey: "null")
        coder.encode(["a", "b"], forKey: "strings")
        coder.encode(Set([1, 2, 3]), forKey: "set")
        coder.encode(["x": 1, "y": 2], forKey: "dictionary")
        coder.encode([["k": 1, "z": "s"]] as [[String: Any]], forKey: "nested")
        coder.encode(NSMutableString(string: "mutable"), forKey: "mutableString")
        coder.encode(nil as Any?, forKey: "nil")
    }
}

final class Pair: NSObject, NSCoding {
    let first: Base?
    let second: Base?

    init(_ first: Base?, _ second: Base?) {
        self.first = first
        self.second = second
    }

    required init?(coder: NSCoder) {
        first = coder.decodeObject(forKey: "first") as? Base
        second = coder.decodeObject(forKey: "second") as? Base
    }

    func encode(with coder: NSCoder) {
        coder.encode(first, forKey: "first")
        coder.encode(second, forKey: "second")
    }
}

final class Node: NSObject, NSCoding {
    var next: Node?

    override init() {}

    required init?(coder: NSCoder) { next = coder.decodeObject(forKey: "next") as? Node }

    func encode(with coder: NSCoder) { coder.encode(next, forKey: "next") }
}

/// Encodes and decodes with closures, to try single calls.
final class Probe: NSObject, NSCoding {
    nonisolated(unsafe) static var write: (NSCoder) -> Void = { _ in }
    nonisolated(unsafe) static var read: (NSCoder) -> Void = { _ in }

    override init() {}

    required init?(coder: NSCoder) {
        super.init()
        Probe.read(coder)
    }

    func encode(with coder: NSCoder) { Probe.write(coder) }
}

struct City: Codable, Equatable {
    var name: String
    var latitude: Double
    var population: Int
    var isCapital: Bool
    var founded: Date?
    var twins: [String]
    var mayor: Mayor?
}

struct Price: Codable, Equatable { var amount: Decimal }

struct Mayor: Codable, Equatable {
    var name: String
    var since: Int
}

enum Shape: Codable, Equatable {
    case circle(radius: Double)
    case named(String, sides: Int)
    case nothing
}

enum Kind: String, Codable { case large, small }

struct Tree: Codable, Equatable {
    var name: String
    var children: [Tree]
}

/// Values that nest as deep as one likes.
enum Chain {
    static func make(_ length: Int) -> Node {
        let root = Node()
        var last = root
        for _ in 1..<length {
            let next = Node()
            last.next = next
            last = next
        }
        return root
    }

    static func tree(_ depth: Int) -> Tree {
        var tree = Tree(name: "leaf", children: [])
        for _ in 1..<depth { tree = Tree(name: "node", children: [tree]) }
        return tree
    }
}
