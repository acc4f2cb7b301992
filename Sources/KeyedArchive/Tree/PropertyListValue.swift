import Foundation

/// A value as an archive holds it: the property list's own kinds of values, and references to objects.
///
/// - Parameter Reference: the stand-in for an object: its place, in an ``ArchiveTree``; the object, in an
///   ``ArchivedObject``.
public enum PropertyListValue<Reference> {
    /// A named value of an object, of the outermost scope, or of a dictionary of the property list.
    public struct Field {
        /// The key as it stands in the archive.
        public var key: String
        /// The value under the key.
        public var value: PropertyListValue

        /// Makes a field.
        ///
        /// - Parameters:
        ///   - key: the key as it stands in the archive, where a `$` that a class put in front of a key is doubled.
        ///   - value: the field's value.
        public init(key: String, value: PropertyListValue) {
            self.key = key
            self.value = value
        }

        /// The key as the class gave it; `$0`, `$1`, … for values without a key.
        public var name: String { key.hasPrefix("$$") ? String(key.dropFirst()) : key }
    }

    /// The property list's own null, which archives do not use: their nil is a ``reference(_:)`` to nil.
    case null
    /// A Boolean.
    case bool(Bool)
    /// An integer up to `Int64.max`, of any size in the archive.
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    /// A real number of 4 bytes.
    case float(Float)
    /// A real number of 8 bytes.
    case real(Double)
    /// A string.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A date of the property list itself. Apple's archives have objects of class `NSDate` instead.
    case date(Date)
    /// An array of the property list itself: values in their order.
    case array([PropertyListValue])
    /// A set of the property list itself, which archives hardly ever hold.
    case set([PropertyListValue])
    /// A dictionary of the property list itself, which archives hardly ever hold.
    case dictionary([Field])
    /// An object that is referred to.
    case reference(Reference)
}

extension PropertyListValue: Sendable where Reference: Sendable {}
extension PropertyListValue.Field: Sendable where Reference: Sendable {}

// MARK: Equality

extension PropertyListValue: Equatable where Reference: Equatable {
    /// Whether two values are the same, kind and all: numbers and dates by their bits, strings by their bytes.
    public static func == (left: Self, right: Self) -> Bool { areSame(left, right) { $0 == $1 } }
}

extension PropertyListValue {
    /// Whether the value may hold references.
    var holdsOthers: Bool {
        switch self {
        case .array, .set, .dictionary, .reference: true
        default: false
        }
    }

    /// Whether two values are the same, where `references` compares references.
    static func areSame(_ left: Self, _ right: Self, by references: (Reference, Reference) -> Bool) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.array(let left), .array(let right)), (.set(let left), .set(let right)):
            left.count == right.count && zip(left, right).allSatisfy { areSame($0, $1, by: references) }
        case (.dictionary(let left), .dictionary(let right)):
            Field.areSame(left, right, by: references)
        case (.reference(let left), .reference(let right)): references(left, right)
        default: false
        }
    }
}

extension PropertyListValue.Field {
    /// Whether two objects' fields are the same, in any order, where `references` compares references.
    static func areSame(_ left: [Self], _ right: [Self], by references: (Reference, Reference) -> Bool) -> Bool {
        guard left.count == right.count else { return false }
        return zip(sorted(left), sorted(right)).allSatisfy {
            $0.key.utf8.elementsEqual($1.key.utf8)
                && PropertyListValue.areSame($0.value, $1.value, by: references)
        }
    }

    /// The fields sorted by key; fields with the same key keep their order.
    private static func sorted(_ fields: [Self]) -> [Self] {
        fields.enumerated().sorted { left, right in
            if left.element.key.utf8.elementsEqual(right.element.key.utf8) { return left.offset < right.offset }
            return left.element.key.utf8.lexicographicallyPrecedes(right.element.key.utf8)
        }.map(\.element)
    }
}
