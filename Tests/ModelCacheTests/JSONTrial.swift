import Foundation

#if canImport(ModelJSONSources)
    // The fuzzer's package has the decoder's sources alone, under this name.
    @testable import ModelJSONSources
#else
    @testable import ModelCache
#endif

/// The law of the decoder of JSON: of every text, a value that it decodes is the one that `JSONDecoder` decodes. It
/// may leave any text to that. The fuzzer of JSON has a link to this file.
struct JSONTrial {
    enum Broken: Error {
        case different(String, fromFoundation: String)
        case refusedByFoundation(String, any Error)
    }

    let decoder: JSONDecoder

    init(_ decoder: JSONDecoder = JSONDecoder()) { self.decoder = decoder }

    /// - Parameter settings: the lowest bit converts names, the next ones choose how dates and data are read.
    init(settings: UInt8) {
        decoder = JSONDecoder()
        if settings & 1 == 1 { decoder.keyDecodingStrategy = .convertFromSnakeCase }
        switch settings >> 1 & 7 {
        case 0: decoder.dateDecodingStrategy = .secondsSince1970
        case 1: decoder.dateDecodingStrategy = .millisecondsSince1970
        case 2: decoder.dateDecodingStrategy = .custom { Date(timeIntervalSince1970: try Double(from: $0)) }
        case 3: decoder.dateDecodingStrategy = .deferredToDate
        default: decoder.dateDecodingStrategy = .iso8601
        }
        switch settings >> 4 & 3 {
        case 0: decoder.dataDecodingStrategy = .deferredToData
        case 1: decoder.dataDecodingStrategy = .custom { Data(try String(from: $0).utf8) }
        default: decoder.dataDecodingStrategy = .base64
        }
    }

    /// Tries types of all kinds.
    func run(_ text: Data) throws {
        try run(Anything.self, text)
        try run(Text.self, text)
        try run(Several.self, text)
        try run([Several?].self, text)
        try run([String: Anything].self, text)
        try run(Placed.self, text)
        try run([String: Placed].self, text)
        try run([Int: Placed].self, text)
        try run(Keyed.self, text)
        try run(Moment.self, text)
        try run([Moment].self, text)
        try run([Float].self, text)
        try run([Decimal?].self, text)
        try run([Int128].self, text)
    }

    /// - Returns: the value; `nil` if it is left to `JSONDecoder`.
    @discardableResult
    func run<Value: Decodable & Equatable>(_ type: Value.Type, _ text: Data) throws -> Value? {
        guard let value = own(type, text) else { return nil }
        let foundation: Value
        do {
            foundation = try decoder.decode(type, from: text)
        } catch {
            throw Broken.refusedByFoundation("\(value)", error)
        }
        guard value == foundation else {
            throw Broken.different("\(value)", fromFoundation: "\(foundation)")
        }
        return value
    }

    private func own<Value: Decodable>(_ type: Value.Type, _ text: Data) -> Value? {
        JSONSettings(decoder).flatMap { JSONDocument(text, $0, userInfo: [:]) }?.decode(type)
    }
}

/// All types of numbers, members that may be absent, values of Foundation, a superclass's decoder.
struct Several: Decodable, Equatable {
    var id: Int8?
    var name: String?
    var firstName: UInt64?
    var lastName: Double
    var tags: [Anything]?
    var date: Date?
    var rest: String

    private enum CodingKeys: String, CodingKey {
        case id, name, firstName, lastName, tags
        case date = "a b"
        case absent
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decodeIfPresent(Int8.self, forKey: .id)
        name = try? container.decode(String.self, forKey: .name)
        firstName = try? container.decodeIfPresent(UInt64.self, forKey: .firstName)
        lastName = (try? container.decode(Double.self, forKey: .lastName)) ?? -1
        tags = try? container.decode([Anything].self, forKey: .tags)
        date = try? container.decodeIfPresent(Date.self, forKey: .date)
        let absent = try container.superDecoder(forKey: .absent).singleValueContainer().decodeNil()
        let keys = container.allKeys.map(\.stringValue).sorted()
        let nested = try? container.nestedContainer(keyedBy: CodingKeys.self, forKey: .name)
        var list = try? container.nestedUnkeyedContainer(forKey: .tags)
        let first = try? list?.decode(Float.self)
        rest = "\(absent) \(keys) \(nested?.contains(.id) ?? false) \(list?.currentIndex ?? -1) \(first ?? -1)"
    }
}

/// Any value, found by trying types.
indirect enum Anything: Decodable, Equatable {
    case none
    case bool(Bool)
    case whole(Int)
    case large(UInt64)
    /// By its bits, for minus zero is not zero.
    case real(UInt64)
    case url(URL)
    case text(String)
    case list([Anything])
    case object([String: Anything])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .none
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if let whole = try? container.decode(Int.self) {
            self = .whole(whole)
        } else if let large = try? container.decode(UInt64.self) {
            self = .large(large)
        } else if let real = try? container.decode(Double.self) {
            self = .real(real.bitPattern)
        } else if let url = try? container.decode(URL.self), url.scheme != nil {
            self = .url(url)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([Anything].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: Anything].self))
        }
    }
}

/// Any value, found by containers.
indirect enum Text: Decodable, Equatable {
    case one(String)
    case number(Double)
    case list([Text])
    case object([String: Text])
    case other

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyName.self) {
            var members: [String: Text] = [:]
            for key in container.allKeys { members[key.stringValue] = try container.decode(Text.self, forKey: key) }
            self = .object(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var list: [Text] = []
            while !container.isAtEnd { list.append(try container.decode(Text.self)) }
            self = .list(list)
        } else if let text = try? decoder.singleValueContainer().decode(String.self) {
            self = .one(text)
        } else if let number = try? decoder.singleValueContainer().decode(Double.self) {
            self = .number(number)
        } else {
            self = .other
        }
    }
}

/// Where each value is, as its decoder tells.
struct Placed: Decodable, Equatable {
    var path: [String]
    var inside: [Placed] = []

    init(from decoder: any Decoder) throws {
        path = decoder.codingPath.map { "\($0.stringValue) \($0.intValue ?? -1)" }
        if let container = try? decoder.container(keyedBy: AnyName.self) {
            for key in container.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
                inside.append(try Placed(from: container.superDecoder(forKey: key)))
            }
        } else if var container = try? decoder.unkeyedContainer() {
            while !container.isAtEnd { inside.append(try container.decode(Placed.self)) }
        }
    }
}

/// Which keys the values below it are told.
struct Keyed: Decodable, Equatable {
    enum Key: Int, CodingKey { case id, name, tags }

    private struct Told: Decodable, Equatable {
        var path: [String]
        var isKey: Bool

        init(from decoder: any Decoder) throws {
            path = decoder.codingPath.map { "\($0.stringValue) \($0.intValue ?? -1)" }
            isKey = decoder.codingPath.last is Key
        }
    }

    private var told: [Told] = []

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for key in [Key.id, .name, .tags] {
            if let value = try container.decodeIfPresent(Told.self, forKey: key) { told.append(value) }
        }
    }
}

struct Moment: Decodable, Equatable {
    var date: Date
    var data: Data
}

private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
