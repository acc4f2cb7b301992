import KeyedArchive

/// Why a source cannot be read any further: facts alone, the sentence is ``SourceErrorMessage``'s.
enum SourceError: Error, Sendable, Equatable {
    /// The system could not open it.
    case cannotOpen(errno: Int32)
    /// The system could not read it.
    case cannotRead(errno: Int32)
    /// A signal asked the command to stop while it waited for bytes.
    case interrupted
    /// It should hold an array and begins otherwise.
    case notAnArray(line: Int)
    /// The array is not closed.
    case unclosedArray(line: Int)
    /// Something follows the array.
    case textAfterArray(line: Int)
    /// It is compressed by gzip.
    case compressed
    /// It is text of UTF-16.
    case wideText
    /// There is no header line.
    case missingHeader
    /// The header line cannot be read.
    case badHeader(line: Int, BadRecordReason)
    /// Two columns have the same name.
    case duplicateColumn(line: Int, name: String)
    /// A column, counted from 1, has no name.
    case unnamedColumn(line: Int, column: Int)
    /// No column has the name of the field that holds the key.
    case missingKeyColumn(name: String, columns: [String])
}

/// Where records come from.
enum SourceLocation: Sendable, Equatable {
    case standardInput
    case file(String)

    init(_ argument: String) {
        self = argument == "-" ? .standardInput : .file(argument)
    }

    /// As it stands in messages.
    var name: String {
        switch self {
        case .standardInput: "standard input"
        case .file(let path): path
        }
    }
}

/// Writes the sentence for a source that cannot be read any further.
struct SourceErrorMessage: CustomStringConvertible {
    let error: SourceError
    let location: SourceLocation

    var description: String { "\(EscapedText(location.name, limit: 300)): \(sentence)" }

    private var sentence: String {
        switch error {
        case .cannotOpen(let errno):
            "cannot be opened: \(SystemMessage(errno))"
        case .cannotRead(let errno):
            "cannot be read: \(SystemMessage(errno))"
        case .interrupted:
            "interrupted"
        case .notAnArray(let line):
            "line \(line): a JSON array must begin with [; for one object per line use --format ndjson"
        case .unclosedArray(let line):
            "line \(line): the JSON array ends before its ]; is the file complete?"
        case .textAfterArray(let line):
            "line \(line): text follows the JSON array; for one object per line use --format ndjson"
        case .missingHeader:
            "has no header line; the first line of CSV must name its columns"
        case .badHeader(let line, let reason):
            "header, \(BadRecordMessage(BadRecord(line: line, reason: reason)))"
        case .duplicateColumn(let line, let name):
            "header, line \(line): two columns are named \"\(EscapedText(name, limit: 80))\"; rename one"
        case .unnamedColumn(let line, let column):
            "header, line \(line): column \(column) has no name"
        case .missingKeyColumn(let name, let columns):
            "the header names no column \(quoted(name)), which is the key field; it names "
                + columns.prefix(Self.mostColumns).map(quoted).joined(separator: ", ")
                + (columns.count > Self.mostColumns ? ", …" : "")
                + (CSVDelimiter.likely(in: columns).map {
                    "; if \($0) separates its columns, use --delimiter \($0)"
                } ?? "")
        case .compressed:
            "is compressed by gzip; unpack it first: zcat FILE | typed-cache warm -"
        case .wideText:
            "is UTF-16; convert it first: iconv -f utf-16 -t utf-8 FILE | typed-cache warm -"
        }
    }

    /// How many columns are named.
    private static let mostColumns = 10

    private func quoted(_ name: String) -> String { "\"\(EscapedText(name, limit: 80))\"" }
}
