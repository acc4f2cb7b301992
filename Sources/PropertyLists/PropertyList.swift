import Foundation

/// A property list as a tree of Swift values, with the order of keys and the places of values in the input.
///
/// Two are equal if their values are, wherever they stood; dictionaries with their keys in another order are not.
public struct PropertyList: Sendable {
    /// A value. A dictionary keeps duplicates of keys, as in the input: in binary lists the first one counts, in text the
    /// last one.
    public enum Value: Sendable, Equatable {
        /// The format's own null, which only binary lists hold.
        case null
        /// A Boolean.
        case bool(Bool)
        /// An integer up to `Int64.max`.
        case integer(Int64)
        /// An integer above `Int64.max`.
        case unsigned(UInt64)
        /// A real number; one of 4 bytes is read as the `Double` of the same value.
        case real(Double)
        /// A moment in time.
        case date(Date)
        /// Bytes.
        case data(Data)
        /// A text.
        case string(String)
        /// A keyed archive's reference to another of its objects.
        case uid(UInt32)
        /// Values in their order.
        case array([PropertyList])
        /// Values of a set, in the order of the input.
        case set([PropertyList])
        /// Keys with their values, in the order of the input.
        case dictionary([Entry])
    }

    /// A key of a dictionary with its value.
    public struct Entry: Sendable, Equatable {
        /// The key, which is a string in every format.
        public var key: String
        /// The place of the key; `nil` if the list was not read.
        public var position: PropertyListPosition?
        /// The value under the key.
        public var value: PropertyList

        /// Makes an entry without a position.
        public init(key: String, value: PropertyList) {
            self.key = key
            self.value = value
        }

        /// Whether key and value are equal, wherever they stood.
        public static func == (left: Entry, right: Entry) -> Bool {
            left.key == right.key && left.value == right.value
        }
    }

    /// The value itself, without its place.
    public var value: Value
    /// The place of the value; `nil` if the list was not read.
    public var position: PropertyListPosition?

    /// Makes a list of a value, without a position.
    public init(_ value: Value) { self.value = value }

    /// Reads a property list of any format. O(*n*) in the bytes.
    ///
    /// - Throws: ``PropertyListError`` with the place of the fault.
    public init(_ data: Data, limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListError) {
        var format: PropertyListFormat?
        try self.init(data, limits: limits, format: &format)
    }

    /// Reads a property list of any format, and says which it has.
    ///
    /// - Throws: ``PropertyListError`` with the place of the fault.
    public init(
        _ data: Data,
        limits: PropertyListLimits = PropertyListLimits(),
        format: inout PropertyListFormat?
    ) throws(PropertyListError) {
        let table = try NodeTable.read([UInt8](data), limits: limits)
        format = table.format
        var reader = TreeReader(table)
        self = try reader.tree(table.nodes[NodeTable.root])
    }

    /// The list in a format. Equal strings, data and numbers stand once in a binary list; duplicates of keys are kept. O(*n*).
    ///
    /// - Throws: ``PropertyListError`` with code `.notRepresentable` if the format has no form of a value, and
    ///   `.limitExceeded` for more than 8,000,000 values, and for more containers in each other than 512 or than this
    ///   thread's stack has room for.
    public func data(format: PropertyListFormat) throws(PropertyListError) -> Data {
        var builder = NodeBuilder()
        _ = try append(to: &builder, depth: 0)
        return try NodeTable(builder, format: format).written(as: format)
    }

    /// The first value of a dictionary's key; `nil` if there is none or this is not a dictionary. O(*n*) in the keys.
    public subscript(key: String) -> PropertyList? {
        guard case .dictionary(let entries) = value else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// Converts a property list to another format.
    ///
    /// Where a key is there twice, and another of its values counts in that format, the other ones are left out.
    ///
    /// - Throws: ``PropertyListError`` if the input is wrong, or with code `.notRepresentable` if the format has no
    ///   form of a value.
    public static func convert(
        _ data: Data,
        to format: PropertyListFormat,
        limits: PropertyListLimits = PropertyListLimits()
    ) throws(PropertyListError) -> Data {
        let table = try NodeTable.read([UInt8](data), limits: limits)
        guard table.lastDuplicateCounts != format.lastDuplicateCounts, table.hasDuplicates else {
            return try table.written(as: format)
        }
        var reader = TreeReader(table)
        let list = try reader.tree(table.nodes[NodeTable.root])
        return try list.withoutDuplicates(in: table.format).data(format: format)
    }

    private func append(to builder: inout NodeBuilder, depth: Int) throws(PropertyListError) -> Int {
        switch value {
        case .null: return try builder.append(Node(.null, offset: 0))
        case .bool(let value): return try builder.append(Node(.bool, offset: 0, payload: value ? 1 : 0))
        case .integer(let value):
            return try builder.append(Node(.integer, offset: 0, payload: UInt64(bitPattern: value)))
        case .unsigned(let value):
            return try builder.append(Node(value >> 63 == 0 ? .integer : .unsigned, offset: 0, payload: value))
        case .real(let value): return try builder.append(Node(.real, offset: 0, payload: value.bitPattern))
        case .date(let value): return try builder.date(value)
        case .data(let value): return try builder.data(value)
        case .string(let value): return try builder.string(value)
        case .uid(let value): return try builder.append(Node(.uid, offset: 0, payload: UInt64(value)))
        case .array(let members): return try append(members, .array, to: &builder, depth: depth)
        case .set(let members): return try append(members, .set, to: &builder, depth: depth)
        case .dictionary(let entries):
            try PropertyListLimits.check(depth: depth)
            let container = try builder.append(Node(.dictionary, offset: 0, count: entries.count))
            var last: Int?
            for entry in entries {
                let key = try builder.string(entry.key)
                builder.link(key, to: container, after: last)
                let member = try entry.value.append(to: &builder, depth: depth + 1)
                builder.link(member, to: container, after: key)
                last = member
            }
            return container
        }
    }

    private func append(
        _ members: [PropertyList],
        _ kind: Node.Kind,
        to builder: inout NodeBuilder,
        depth: Int
    ) throws(PropertyListError) -> Int {
        try PropertyListLimits.check(depth: depth)
        let container = try builder.append(Node(kind, offset: 0, count: members.count))
        var last: Int?
        for member in members {
            let index = try member.append(to: &builder, depth: depth + 1)
            builder.link(index, to: container, after: last)
            last = index
        }
        return container
    }
}

extension PropertyList: Equatable {
    /// Whether the values are equal, wherever they stood.
    public static func == (left: PropertyList, right: PropertyList) -> Bool { left.value == right.value }
}

extension PropertyList.Value {
    // A loop: lists may nest deeper than the stack of this thread allows.
    /// Whether the values are equal; dictionaries with their keys in another order are not.
    public static func == (left: Self, right: Self) -> Bool {
        var pending = [(left, right)]
        while let pair = pending.popLast() {
            switch pair {
            case (.array(let left), .array(let right)), (.set(let left), .set(let right)):
                guard left.count == right.count else { return false }
                for (left, right) in zip(left, right) { pending.append((left.value, right.value)) }
            case (.dictionary(let left), .dictionary(let right)):
                guard left.count == right.count else { return false }
                for (left, right) in zip(left, right) {
                    guard left.key == right.key else { return false }
                    pending.append((left.value.value, right.value.value))
                }
            default: guard haveSameScalars(pair) else { return false }
            }
        }
        return true
    }

    private static func haveSameScalars(_ pair: (Self, Self)) -> Bool {
        switch pair {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.string(let left), .string(let right)): left == right
        case (.uid(let left), .uid(let right)): left == right
        default: false
        }
    }
}
