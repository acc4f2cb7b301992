import Foundation
import KeyedArchive

/// Named values in the order in which their source wrote them.
struct Record: Sendable, Equatable {
    var fields: [RecordField] = []

    /// The value of the field named `name`, or `nil` if there is none.
    ///
    /// - Complexity: O(*n*) in the number of fields: records are short, and a dictionary for each costs more.
    subscript(name: String) -> RecordValue? {
        fields.first { $0.name == name }?.value
    }

    /// As the subscript, for a name of the same bytes: canonically equal names are different ones.
    func value(exactly name: String) -> RecordValue? {
        fields.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}

extension Record: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, RecordValue)...) {
        self.init(fields: elements.map { RecordField(name: $0, value: $1) })
    }
}

/// One field of a record.
struct RecordField: Sendable, Equatable {
    var name: String
    var value: RecordValue
}

/// A value of one field of a record, as its source wrote it or as its field's declaration reads it.
///
/// JSON gives the first eight kinds; dates, bytes, addresses and identifiers only come from declared fields.
enum RecordValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    /// A whole number above `Int64.max`.
    case uint(UInt64)
    /// Always finite when read from a source.
    case double(Double)
    case string(String)
    case array([RecordValue])
    case object(Record)
    case date(Date)
    case data(Data)
    case url(URL)
    case uuid(UUID)
}

extension RecordValue {
    /// A number of things.
    static func count(_ count: Int) -> RecordValue { .int(Int64(count)) }

    /// A time in seconds, to the microsecond: the digits after it are those of the conversion.
    static func seconds(_ time: Duration) -> RecordValue { .double((time.inSeconds * 1e6).rounded() / 1e6) }

    /// A value of an archive that holds no others; null for all else.
    init(_ scalar: ArchiveTree.Value) {
        self =
            switch scalar {
            case .bool(let value): .bool(value)
            case .integer(let value): .int(value)
            case .unsigned(let value): .uint(value)
            case .float(let value): .double(Double(value))
            case .real(let value): .double(value)
            case .string(let value): .string(value)
            case .data(let value): .data(value)
            case .date(let value): .date(value)
            case .null, .array, .set, .dictionary, .reference: .null
            }
    }
}

extension RecordValue {
    /// Whether two values are the same to the byte, where `==` takes canonically equal texts, and zeros of both signs, for
    /// equal.
    func isIdentical(to other: RecordValue) -> Bool {
        switch (self, other) {
        case (.double(let one), .double(let other)): one.bitPattern == other.bitPattern
        case (.date(let one), .date(let other)):
            one.timeIntervalSinceReferenceDate.bitPattern == other.timeIntervalSinceReferenceDate.bitPattern
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.url(let one), .url(let other)): one.absoluteString.utf8.elementsEqual(other.absoluteString.utf8)
        case (.array(let one), .array(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.isIdentical(to: $1) }
        case (.object(let one), .object(let other)):
            one.fields.count == other.fields.count
                && zip(one.fields, other.fields).allSatisfy {
                    $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.isIdentical(to: $1.value)
                }
        default: self == other
        }
    }
}

extension RecordValue {
    /// The type as `--fields` names it, where it has a name there.
    var typeName: String {
        switch self {
        case .null: "null"
        case .bool: FieldType.bool.rawValue
        case .int, .uint: FieldType.int.rawValue
        case .double: FieldType.double.rawValue
        case .string: FieldType.string.rawValue
        case .date: FieldType.date.rawValue
        case .data: FieldType.data.rawValue
        case .url: FieldType.url.rawValue
        case .uuid: FieldType.uuid.rawValue
        case .array: "array"
        case .object: "object"
        }
    }
}

/// The kind of a value as its source wrote it, for messages: kinds may be shown, values may not.
enum RecordKind: Sendable, Equatable {
    case null
    case bool
    case integer
    /// A number with a fraction or an exponent.
    case real
    /// Zero with a minus sign, which no integer is.
    case negativeZero
    case string
    case array
    case object
    case other

    init(_ value: RecordValue) {
        self =
            switch value {
            case .null: .null
            case .bool: .bool
            case .int, .uint: .integer
            case .double(let number): Self(number)
            case .string: .string
            case .array: .array
            case .object: .object
            case .date, .data, .url, .uuid: .other
            }
    }

    init(_ item: PlainValues.Item) {
        self =
            switch item.kind {
            case .null: .null
            case .bool: .bool
            case .integer, .unsigned: .integer
            case .real: Self(item.double)
            case .string: .string
            case .array: .array
            case .object: .object
            }
    }

    private init(_ number: Double) { self = number.isZero && number.sign == .minus ? .negativeZero : .real }

    /// With its article, to stand in a sentence.
    var phrase: String {
        switch self {
        case .null: "null"
        case .bool: "a truth value"
        case .integer: "a whole number"
        case .real: "a number with a fraction or an exponent"
        case .negativeZero: "a negative zero"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        case .other: "another value"
        }
    }
}
