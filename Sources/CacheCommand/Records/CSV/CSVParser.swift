/// Cuts one CSV record into its fields (RFC 4180).
struct CSVParser {
    /// Returns the fields of `bytes`, a record without its line feed.
    ///
    /// - Parameter limit: how many fields there may be at most.
    static func fields(_ bytes: Span<UInt8>, limit: Int) throws(BadRecordReason) -> [String] {
        var end = bytes.count
        if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        var fields: [String] = []
        var position = 0
        while true {
            guard fields.count < limit else { throw .csv(.tooManyFields, column: limit + 1) }
            let isQuoted = position < end && bytes[position] == UInt8(ascii: "\"")
            let field =
                isQuoted
                ? try quoted(bytes, &position, end, column: fields.count + 1)
                : try plain(bytes, &position, end, column: fields.count + 1)
            fields.append(field)
            guard position < end else { return fields }
            position += 1  // the comma
        }
    }

    private static func plain(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        _ end: Int,
        column: Int
    ) throws(BadRecordReason) -> String {
        let start = position
        while position < end, bytes[position] != UInt8(ascii: ",") {
            if bytes[position] == UInt8(ascii: "\"") { throw .csv(.strayQuote, column: column) }
            if bytes[position] == UInt8(ascii: "\r") { throw .csv(.strayCarriageReturn, column: column) }
            position += 1
        }
        guard let text = JSONParser.text(bytes.extracting(start..<position)) else { throw .invalidUTF8 }
        return text
    }

    /// Parses a field that begins with a quote; leaves the position behind it.
    private static func quoted(
        _ bytes: Span<UInt8>,
        _ position: inout Int,
        _ end: Int,
        column: Int
    ) throws(BadRecordReason) -> String {
        position += 1
        var text: [UInt8] = []
        while true {
            guard position < bytes.count else { throw .csv(.unclosedQuote, column: column) }
            let byte = bytes[position]
            position += 1
            if byte != UInt8(ascii: "\"") {
                text.append(byte)
            } else if position < end, bytes[position] == UInt8(ascii: "\"") {
                text.append(byte)
                position += 1
            } else {
                break
            }
        }
        guard position >= end || bytes[position] == UInt8(ascii: ",") else {
            throw .csv(.textAfterQuote, column: column)
        }
        let whole = text[...]
        guard let string = JSONParser.text(whole.span) else { throw .invalidUTF8 }
        return string
    }
}

/// How a CSV record breaks the rules of RFC 4180.
enum CSVError: Error, Sendable, Equatable {
    case unclosedQuote
    case textAfterQuote
    case strayQuote
    case strayCarriageReturn
    case tooManyFields

    var phrase: String {
        switch self {
        case .unclosedQuote: "the quote that opens this field is never closed"
        case .textAfterQuote: "text follows the closing quote; double a quote inside a quoted field"
        case .strayQuote: "a quote stands inside an unquoted field; quote the field and double the quote"
        case .strayCarriageReturn: "a carriage return stands outside quotes"
        case .tooManyFields: "the record has too many fields"
        }
    }
}
