import Foundation
import KeyedArchive

/// The declared fields of a record: selects them, in their order, and reads each as its type.
struct FieldList: Sendable, Equatable {
    let fields: [FieldDeclaration]

    init(_ fields: [FieldDeclaration]) {
        self.fields = fields
    }

    /// Parses `a:double,b:string?`.
    init(parsing text: String) throws(InvalidValue) {
        var fields: [FieldDeclaration] = []
        var names: Set<String> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let field = try FieldDeclaration(parsing: part)
            guard names.insert(field.name).inserted else {
                throw InvalidValue(String(part), expected: "each field once")
            }
            fields.append(field)
        }
        self.fields = fields
    }

    /// The declared fields of `record`; optional fields that are missing or null are left out.
    ///
    /// - Parameter isText: whether strings are to be read as the text of every type, as columns of CSV are.
    func select(from record: Record, isText: Bool) throws(BadRecordReason) -> Record {
        var selected = Record()
        selected.fields.reserveCapacity(fields.count)
        for field in fields {
            let value = record[field.name]
            guard let value, !isAbsent(value, field, isText: isText) else {
                guard field.isOptional else { throw absence(of: field, value: value) }
                continue
            }
            guard let fit = FieldCoercion(type: field.type, isText: isText).value(of: value) else {
                throw unfit(field, value)
            }
            selected.fields.append(RecordField(name: field.name, value: fit))
        }
        return selected
    }

    private func isAbsent(_ value: RecordValue, _ field: FieldDeclaration, isText: Bool) -> Bool {
        switch value {
        case .null: true
        case .string(let text): isText && field.isOptional && text.isEmpty
        default: false
        }
    }

    private func absence(of field: FieldDeclaration, value: RecordValue?) -> BadRecordReason {
        value.map { unfit(field, $0) } ?? .missingField(field.name)
    }

    private func unfit(_ field: FieldDeclaration, _ value: RecordValue) -> BadRecordReason {
        var excerpt: String?
        if case .string(let text) = value { excerpt = EscapedText(text, limit: 40).description }
        return .unfitField(field.name, type: field.type, found: RecordKind(value), excerpt: excerpt)
    }
}

/// One field that records must have, or may have: `name:type` or `name:type?`.
struct FieldDeclaration: Sendable, Equatable {
    let name: String
    let type: FieldType
    /// Whether it may be missing, null, or an empty column.
    let isOptional: Bool
}

extension FieldDeclaration {
    fileprivate init(parsing part: Substring) throws(InvalidValue) {
        guard let colon = part.lastIndex(of: ":"), colon != part.startIndex else {
            throw InvalidValue(String(part), expected: "name:type")
        }
        var word = part[part.index(after: colon)...]
        let isOptional = word.last == "?"
        if isOptional { word.removeLast() }
        guard let type = FieldType(rawValue: String(word)) else {
            let types = FieldType.allCases.map(\.rawValue).joined(separator: ", ")
            throw InvalidValue(String(part), expected: "a type that is one of \(types)")
        }
        self.init(name: String(part[..<colon]), type: type, isOptional: isOptional)
    }
}

/// The type of a declared field.
enum FieldType: String, CaseIterable, Sendable {
    case string
    case int
    case double
    case bool
    case date
    case data
    case url
    case uuid

    /// A description of valid values, to stand after "expected".
    var phrase: String {
        switch self {
        case .string: "a string"
        case .int: "a whole number of at most 64 bits"
        case .double: "a number"
        case .bool: "true or false"
        case .date: "an ISO 8601 date with its zone, or seconds since 1970"
        case .data: "Base64"
        case .url: "an absolute URL"
        case .uuid: "a UUID"
        }
    }
}

/// Reads a value as a declared type, where that loses nothing.
struct FieldCoercion {
    let type: FieldType
    /// Whether a string may be the text of any type.
    let isText: Bool

    /// `value` as the type, or `nil` if it does not fit.
    func value(of value: RecordValue) -> RecordValue? {
        switch (type, value) {
        case (.string, .string), (.int, .int), (.double, .double), (.bool, .bool): value
        case (_, .string(let text)): isText ? plainText(text) ?? markedText(text) : markedText(text)
        case (.int, .double(let number)): wholeNumber(number)
        case (.double, .int(let number)): Double(exactly: number).map(RecordValue.double)
        case (.double, .uint(let number)): Double(exactly: number).map(RecordValue.double)
        case (.date, .int(let seconds)): .date(Date(timeIntervalSince1970: Double(seconds)))
        case (.date, .double(let seconds)): .date(Date(timeIntervalSince1970: seconds))
        default: nil
        }
    }

    /// A double that stands for a whole number, such as 3.0: above 2^53 it could stand for several.
    private func wholeNumber(_ number: Double) -> RecordValue? {
        number.magnitude <= 0x1p53 ? Int64(exactly: number).map(RecordValue.int) : nil
    }

    /// Text of the types that JSON writes without quotes.
    private func plainText(_ text: String) -> RecordValue? {
        switch type {
        case .int: Int64(text).map(RecordValue.int)
        case .double: double(text).map(RecordValue.double)
        case .date: number(text).map { .date(Date(timeIntervalSince1970: $0)) }
        case .bool: truthValue(text).map(RecordValue.bool)
        default: nil
        }
    }

    /// Text of the types that JSON writes in quotes.
    private func markedText(_ text: String) -> RecordValue? {
        switch type {
        case .date: InstantText.date(from: text).map(RecordValue.date)
        case .data: Data(base64Encoded: text).map(RecordValue.data)
        case .url: absoluteURL(text).map(RecordValue.url)
        case .uuid: UUID(uuidString: text).map(RecordValue.uuid)
        default: nil
        }
    }

    /// A number; a whole one only if it stays the same.
    private func double(_ text: String) -> Double? {
        if let whole = Int64(text) { return Double(exactly: whole) }
        if let whole = UInt64(text) { return Double(exactly: whole) }
        return text.utf8.allSatisfy("0123456789+-".utf8.contains) ? nil : number(text)
    }

    /// A decimal number; `Double` alone would also take hexadecimal ones, infinities and "nan".
    private func number(_ text: String) -> Double? {
        guard text.utf8.allSatisfy("0123456789+-.eE".utf8.contains) else { return nil }
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    private func truthValue(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    private func absoluteURL(_ text: String) -> URL? {
        guard let url = URL(string: text, encodingInvalidCharacters: false) else { return nil }
        return url.scheme == nil ? nil : url
    }
}
