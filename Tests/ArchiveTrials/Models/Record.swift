import Foundation

/// A Codable value with a field of every kind, and others of its type in it.
public struct Record: Codable, Equatable {
    public var name: String
    public var small: Int8
    public var port: UInt16
    public var count: Int
    public var large: UInt64
    public var ratio: Float
    public var share: Double
    public var isOpen: Bool
    public var date: Date?
    public var url: URL?
    public var id: UUID?
    public var data: Data?
    public var words: [String]
    public var scores: [String: Int]
    public var rows: [Int: [Double]]
    public var tags: Set<String>
    public var form: Form
    public var kind: Kind?
    public var position: Position
    public var children: [Record]

    public enum Form: Codable, Equatable {
        case nothing
        case circle(radius: Double)
        case named(String, sides: Int)
        indirect case pair(Form, Form)
    }

    public enum Kind: String, Codable { case large, small }

    /// Codes itself by hand: an unkeyed container inside a keyed one, and a nested one beside it.
    public struct Position: Codable, Equatable {
        public var x: Double
        public var y: Double
        public var note: String?

        enum Keys: String, CodingKey { case place, more }
        enum MoreKeys: String, CodingKey { case note }

        public init(x: Double, y: Double, note: String? = nil) {
            self.x = x
            self.y = y
            self.note = note
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            var place = try container.nestedUnkeyedContainer(forKey: .place)
            x = try place.decode(Double.self)
            y = try place.decode(Double.self)
            let more = try container.nestedContainer(keyedBy: MoreKeys.self, forKey: .more)
            note = try more.decodeIfPresent(String.self, forKey: .note)
            _ = (place.isAtEnd, place.count, more.allKeys, container.allKeys, decoder.codingPath)
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            var place = container.nestedUnkeyedContainer(forKey: .place)
            try place.encode(x)
            try place.encode(y)
            var more = container.nestedContainer(keyedBy: MoreKeys.self, forKey: .more)
            try more.encodeIfPresent(note, forKey: .note)
        }
    }

    public static func sample(depth: Int) -> Record {
        Record(
            name: "Rue \(depth) – 通り",
            small: -7,
            port: 65_535,
            count: -1 << 40,
            large: .max,
            ratio: 0.1,
            share: 1e300,
            isOpen: depth.isMultiple(of: 2),
            date: Date(timeIntervalSinceReferenceDate: 1.5),
            url: URL(string: "https://example.org/a?b=c"),
            id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
            data: Data([0, 255, 128]),
            words: ["", "$null", "word"],
            scores: ["a": 1, "$b": -1],
            rows: [-1: [], 7: [0.5, 2]],
            tags: ["one"],
            form: .pair(.named("square", sides: 4), .pair(.circle(radius: 1), .nothing)),
            kind: .small,
            position: Position(x: 1, y: -1.25, note: depth == 0 ? nil : "note"),
            children: depth == 0 ? [] : [sample(depth: depth - 1)]
        )
    }
}

/// A Codable class; its superclass codes itself through `superEncoder`.
public class Animal: Codable {
    public var legs: Int

    public init(legs: Int) { self.legs = legs }
}

public final class Dog: Animal {
    public var name: String?

    enum Keys: String, CodingKey { case name }

    public init(name: String?) {
        self.name = name
        super.init(legs: 4)
    }

    public required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        name = try container.decodeIfPresent(String.self, forKey: .name)
        try super.init(from: container.superDecoder())
    }

    public override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encodeIfPresent(name, forKey: .name)
        try super.encode(to: container.superEncoder())
    }
}
