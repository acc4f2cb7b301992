/// A value that asks several times for the container of a key, directly and inside other containers.
package struct NestedTwice: Codable, Equatable {
    package struct Info: Codable, Equatable {
        package var first: Int
        package var second: Int
        package var late: Int
        package var inner: [String: Int]
        package var list: [Int]

        fileprivate enum CodingKeys: CodingKey { case first, second, late, inner, list }
    }

    package var info: Info
    package var list: [Int]

    package init() {
        info = Info(first: 1, second: 2, late: 3, inner: ["a": 4, "b": 5], list: [6, 7])
        list = [8, 9, 10]
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        var first = container.nestedContainer(keyedBy: Info.CodingKeys.self, forKey: .info)
        try first.encode(info.first, forKey: .first)
        var list = container.nestedUnkeyedContainer(forKey: .list)
        try list.encode(self.list[0])
        var again = encoder.container(keyedBy: CodingKeys.self)
        var second = again.nestedContainer(keyedBy: Info.CodingKeys.self, forKey: .info)
        try second.encode(info.second, forKey: .second)
        for (name, value) in info.inner.sorted(by: { $0.key < $1.key }) {
            var inner = second.nestedContainer(keyedBy: Name.self, forKey: .inner)
            try inner.encode(value, forKey: Name(stringValue: name))
        }
        for value in info.list {
            var inner = second.nestedUnkeyedContainer(forKey: .list)
            try inner.encode(value)
        }
        try first.encode(info.late, forKey: .late)
        var rest = again.nestedUnkeyedContainer(forKey: .list)
        try rest.encode(self.list[1])
        try list.encode(self.list[2])
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// A class and a subclass that each put values into the container of one key.
package class SharesContainer: Codable {
    package var base = 0
    private enum Keys: CodingKey { case meta }
    private enum MetaKeys: CodingKey { case base }

    package init() {}

    package required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let meta = try container.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
        base = try meta.decode(Int.self, forKey: .base)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var meta = container.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
        try meta.encode(base, forKey: .base)
    }
}

package final class SharesContainerToo: SharesContainer {
    package var own = 0
    private enum Keys: CodingKey { case meta }
    private enum MetaKeys: CodingKey { case own }

    package override init() { super.init() }

    package required init(from decoder: any Decoder) throws {
        try super.init(from: decoder)
        let container = try decoder.container(keyedBy: Keys.self)
        let meta = try container.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
        own = try meta.decode(Int.self, forKey: .own)
    }

    package override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: Keys.self)
        var meta = container.nestedContainer(keyedBy: MetaKeys.self, forKey: .meta)
        try meta.encode(own, forKey: .own)
    }
}

/// A value that asks for two kinds of containers under one key.
package struct NestedInTwoKinds: Encodable {
    private enum Keys: CodingKey { case info, number }

    package init() {}

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var info = container.nestedContainer(keyedBy: Keys.self, forKey: .info)
        try info.encode(1, forKey: .number)
        var list = container.nestedUnkeyedContainer(forKey: .info)
        try list.encode(2)
    }
}
