import Foundation

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
        case (.double, .int(let number)): .double(Double(number))
        case (.double, .uint(let number)): .double(Double(number))
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
        case .double: number(text).map(RecordValue.double)
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
