import Foundation

/// A value in a text of JSON: a decoder.
final class JSONPlace: Decoder {
    let document: JSONDocument
    let item: JSONItem
    private let parent: JSONPlace?
    /// Which element or member of the parent it is.
    private let number: Int
    /// The name under which the parent has no member.
    private let absentName: String?
    /// How many members were asked for.
    private var asked = 0

    init(
        _ document: JSONDocument,
        _ item: JSONItem,
        parent: JSONPlace?,
        number: Int = 0,
        absentName: String? = nil
    ) {
        self.document = document
        self.item = item
        self.parent = parent
        self.number = number
        self.absentName = absentName
    }

    var userInfo: [CodingUserInfoKey: Any] { document.userInfo }

    /// The way to this value. Below an object `JSONDecoder` has the keys that were asked for, of the types that ask, which
    /// are not kept here.
    var codingPath: [any CodingKey] {
        if isInObject { _ = document.unclear() }
        return path
    }

    private var isInObject: Bool { parent.map { $0.item.kind == .object || $0.isInObject } ?? false }

    /// The way to this value for errors, which `JSONDecoder` finds again.
    var path: [any CodingKey] {
        guard let parent else { return [] }
        return parent.path + [absentName.map { JSONKey(stringValue: $0) } ?? parent.key(number)]
    }

    /// The key of an element or a member.
    func key(_ number: Int) -> JSONKey {
        if item.kind == .array { return JSONKey(intValue: number) }
        return JSONKey(stringValue: document.names(of: Int(item.shape))[number])
    }

    // MARK: Members

    @inline(__always)
    func item(_ number: Int) -> JSONItem { document.items[Int(item.start) + number] }

    func place(_ number: Int) -> JSONPlace { JSONPlace(document, item(number), parent: self, number: number) }

    /// Which member has a name; `nil`: none.
    @inline(__always)
    func member(_ name: String) -> Int? {
        defer { asked += 1 }
        return document.member(name, of: Int(item.shape), number: asked)
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard item.kind == .object else { throw mismatch([String: Any].self, item, at: nil) }
        return KeyedDecodingContainer(JSONKeyed<Key>(place: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard item.kind == .array else { throw mismatch([Any].self, item, at: nil) }
        return JSONUnkeyed(self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    // MARK: Values

    /// Decodes this value.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decode(type, item, at: nil) { self }
    }

    /// Decodes an element or a member.
    @inline(__always)
    func decode<Value: Decodable>(_ type: Value.Type, at number: Int) throws -> Value {
        try decode(type, item(number), at: number) { place(number) }
    }

    // The optional of a type that is not known takes 50 ns to make: none is on the usual way.
    @inline(__always)
    private func decode<Value: Decodable>(
        _ type: Value.Type,
        _ item: JSONItem,
        at number: Int?,
        place: () -> JSONPlace
    ) throws -> Value {
        if type == String.self { return try same(string(item, at: number), as: type) }
        if type == Int.self { return try same(integer(Int.self, item, at: number), as: type) }
        if type == Double.self { return try same(real(Double.self, item, at: number), as: type) }
        if type == Bool.self { return try same(bool(item, at: number), as: type) }
        if type == Date.self { return try same(date(item, at: number), as: type) }
        if type == URL.self { return try same(url(item, at: number), as: type) }
        if type == Data.self { return try same(data(item, at: number), as: type) }
        if type == Decimal.self { return try same(decimal(item, at: number), as: type) }
        let place = place()
        return document.settings.convertsNames ? try place.decodeConverting(type) : try Value(from: place)
    }

    /// Decodes this value where names are converted; a dictionary's keys stay as they are written.
    @inline(never)
    private func decodeConverting<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard let dictionary = type as? any NamedValues.Type else { return try Value(from: self) }
        guard item.kind == .object else { throw mismatch([String: Any].self, item, at: nil) }
        guard let value = try dictionary.values(of: self) as? Value else { throw document.unclear() }
        return value
    }
}

/// A value as the type that it has, in code that is generic over it.
///
/// Why the unsafe cast is sound: both types are compared before.
@inline(__always)
private func same<Value, Other>(_ value: Value, as type: Other.Type) -> Other {
    precondition(Value.self == type)
    return unsafeBitCast(value, to: type)
}

/// The key of an element, or a name.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(intValue: Int) {
        stringValue = "Index \(intValue)"
        self.intValue = intValue
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }
}

/// A dictionary with names as keys.
private protocol NamedValues {
    static func values(of place: JSONPlace) throws -> Any
}

extension Dictionary: NamedValues where Key == String, Value: Decodable {
    fileprivate static func values(of place: JSONPlace) throws -> Any {
        var values: [String: Value] = [:]
        for (number, name) in place.document.writtenNames(of: Int(place.item.shape)).enumerated() {
            values[name] = try place.decode(Value.self, at: number)
        }
        return values
    }
}
