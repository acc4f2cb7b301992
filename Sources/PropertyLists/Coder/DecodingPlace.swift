import Foundation

/// A value that is being decoded: a decoder.
final class DecodingPlace: Decoder, CodingPlace {
    let table: NodeTable
    let info: [CodingUserInfoKey: any Sendable]
    let index: Int
    let parent: DecodingPlace?
    let key: (any CodingKey)?
    private let depth: Int

    init(
        _ table: NodeTable,
        _ info: [CodingUserInfoKey: any Sendable],
        node: Int,
        parent: DecodingPlace?,
        key: (any CodingKey)?
    ) {
        self.table = table
        self.info = info
        index = node
        self.parent = parent
        self.key = key
        depth = (parent?.depth ?? -1) + 1
    }

    var userInfo: [CodingUserInfoKey: Any] { info }

    @inline(__always)
    var node: Node { table.nodes[index] }

    func place(_ node: Int, _ key: any CodingKey) -> DecodingPlace {
        DecodingPlace(table, info, node: node, parent: self, key: key)
    }

    // MARK: Values

    @inline(__always)
    func isNil(_ node: Node) -> Bool {
        node.kind == .null
            || (node.kind == .string && node.length == 5
                && table.bytes.part(node.range).elementsEqual("$null".utf8))
    }

    func mismatch(_ type: Any.Type, _ node: Node, key: (any CodingKey)?) -> DecodingError {
        let path = codingPath + (key.map { [$0] } ?? [])
        if isNil(node) {
            return .valueNotFound(
                type,
                .init(codingPath: path, debugDescription: "Expected \(type) but found null value instead.")
            )
        }
        let message = "Expected to decode \(type) but found \(Self.name(node.kind)) instead."
        return .typeMismatch(type, .init(codingPath: path, debugDescription: message))
    }

    private static func name(_ kind: Node.Kind) -> String {
        switch kind {
        case .null: "a null value"
        case .bool, .integer, .unsigned, .float, .real: "a number"
        case .date: "a date"
        case .data: "data"
        case .string: "a string"
        case .uid: "a UID"
        case .array: "an array"
        case .set: "a set"
        case .dictionary: "a dictionary"
        }
    }

    func string(_ node: Node, _ key: @autoclosure () -> (any CodingKey)?) throws -> String {
        guard node.kind == .string, !isNil(node) else { throw mismatch(String.self, node, key: key()) }
        return table.text(node)
    }

    func bool(_ node: Node, _ key: @autoclosure () -> (any CodingKey)?) throws -> Bool {
        guard node.kind == .bool else { throw mismatch(Bool.self, node, key: key()) }
        return node.payload != 0
    }

    @inline(__always)
    func integer<Number: FixedWidthInteger>(
        _ type: Number.Type,
        _ node: Node,
        key: @autoclosure () -> (any CodingKey)?
    ) throws -> Number {
        let number: Number?
        switch node.kind {
        case .integer: number = Number(exactly: Int64(bitPattern: node.payload))
        case .unsigned: number = Number(exactly: node.payload)
        case .real: number = Number(exactly: node.real)
        case .float: number = Number(exactly: node.float)
        default: throw mismatch(type, node, key: key())
        }
        if let number { return number }
        throw doesNotFit(type, key())
    }

    func doesNotFit(_ type: Any.Type, _ key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(
            .init(
                codingPath: codingPath + (key.map { [$0] } ?? []),
                debugDescription: "Parsed property list number does not fit in \(type)."
            )
        )
    }

    @inline(__always)
    func real<Number: BinaryFloatingPoint>(
        _ type: Number.Type,
        _ node: Node,
        key: @autoclosure () -> (any CodingKey)?
    ) throws -> Number {
        switch node.kind {
        case .real:
            let number = Number(node.real)
            guard number.isFinite || !node.real.isFinite else { throw doesNotFit(type, key()) }
            return number
        case .float: return Number(node.float)
        case .integer: return Number(Int64(bitPattern: node.payload))
        case .unsigned: return Number(node.payload)
        default: throw mismatch(type, node, key: key())
        }
    }

    func date(_ node: Node, _ key: @autoclosure () -> (any CodingKey)?) throws -> Date {
        guard node.kind == .date else { throw mismatch(Date.self, node, key: key()) }
        return Date(timeIntervalSinceReferenceDate: node.real)
    }

    func data(_ node: Node, _ key: @autoclosure () -> (any CodingKey)?) throws -> Data {
        guard node.kind == .data else { throw mismatch(Data.self, node, key: key()) }
        return table.data(node)
    }

    /// Decodes this value.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let value = try scalar(type, node, key: nil) { return value }
        return try Value(from: self)
    }

    /// Decodes a member.
    @inline(__always)
    func decode<Value: Decodable>(
        _ type: Value.Type,
        _ member: Int,
        key: @autoclosure () -> any CodingKey
    ) throws -> Value {
        if let value = try scalar(type, table.nodes[member], key: key()) { return value }
        let place = place(member, key())
        try place.checkDepth()
        return try Value(from: place)
    }

    /// Checks that a type may decode itself here.
    @inline(__always)
    private func checkDepth() throws {
        do throws(PropertyListError) {
            // Each value is a level, and an array of them another; a list has no more levels than its reader allows.
            try PropertyListLimits.check(depth: depth, limit: .max, offset: Int(node.offset))
        } catch {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath,
                    debugDescription: "Unable to decode the value from the property list: \(error.message).",
                    underlyingError: error
                )
            )
        }
    }

    @inline(__always)
    private func scalar<Value>(
        _ type: Value.Type,
        _ node: Node,
        key: @autoclosure () -> (any CodingKey)?
    ) throws -> Value? {
        if type == String.self { return try same(string(node, key()), as: type) }
        if type == Int.self { return try same(integer(Int.self, node, key: key()), as: type) }
        if type == Double.self { return try same(real(Double.self, node, key: key()), as: type) }
        if type == Bool.self { return try same(bool(node, key()), as: type) }
        if type == Date.self { return try same(date(node, key()), as: type) }
        if type == Data.self { return try same(data(node, key()), as: type) }
        return nil
    }

    // MARK: Decoder

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard node.kind == .dictionary else { throw mismatch([String: Any].self, node, key: nil) }
        return KeyedDecodingContainer(KeyedDecoding<Key>(self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard node.kind == .array || node.kind == .set else { throw mismatch([Any].self, node, key: nil) }
        return UnkeyedDecoding(self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleDecoding(place: self) }
}
