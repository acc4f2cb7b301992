/// A stream of records; memory stays flat however long it is.
protocol RecordSource {
    /// Returns the next record, or why the one at that place cannot be taken; `nil` at the end.
    ///
    /// - Parameter reads: whether the input may be read, which may block; else `nil` as well where that would be needed.
    /// - Throws: ``SourceError`` if there is no way to go on after this.
    mutating func next(reads: Bool) throws(SourceError) -> RecordOutcome?

    /// Whether every value is text, even where it stands for a number or a Boolean.
    var valuesAreText: Bool { get }

    /// How many bytes the records given so far took.
    var bytesConsumed: Int { get }

    /// The names of the fields that every record has; `nil` where each record has names of its own.
    var columns: [String]? { get }
}

extension RecordSource {
    var columns: [String]? { nil }

    mutating func next() throws(SourceError) -> RecordOutcome? { try next(reads: true) }
}

/// The result of reading one record: the record, or why it cannot be taken.
enum RecordOutcome: Sendable, Equatable {
    case record(SourceRecord, line: Int)
    case bad(BadRecord)
}

/// Limits on one record, so that no input makes the command allocate without bound.
struct RecordLimits: Sendable, Equatable {
    /// Bytes of text; longer records are skipped without being held.
    var bytes = 64 << 20
    /// Nesting of arrays and objects.
    var depth = 512
    /// Values in all, nested ones included: two bytes of text can cost 24 of memory.
    var values = 1 << 20
}

/// Chooses the source for the format of an input.
enum RecordSources {
    /// Opens the records of `input`.
    ///
    /// - Parameters:
    ///   - format: `nil` goes by the name of `location`, then by the first byte.
    ///   - delimiter: between the fields of CSV; `nil`: a tab in a file whose name ends in `.tsv`, else a comma.
    /// - Throws: ``SourceError`` if the input cannot be read, is not text of UTF-8 from its first bytes on, or is CSV with
    ///   no usable header.
    static func open(
        _ input: any ByteInput,
        at location: SourceLocation,
        format: RecordFormat?,
        delimiter: CSVDelimiter? = nil,
        limits: RecordLimits = RecordLimits()
    ) throws(SourceError) -> any RecordSource {
        var window = ByteWindow(input)
        try window.skipByteOrderMark()
        switch try window.firstTwoBytes() {
        case [0x1F, 0x8B]: throw .compressed
        case [0xFF, 0xFE], [0xFE, 0xFF]: throw .wideText
        default: break
        }
        var chosen = format
        var implied = CSVDelimiter.comma
        if case .file(let path) = location, let named = RecordFormat.named(path) {
            chosen = chosen ?? named.format
            implied = named.delimiter
        }
        if delimiter != nil { chosen = chosen ?? .csv }
        if chosen == nil { chosen = RecordFormat(firstByte: try window.firstVisibleByte()) }
        return switch chosen ?? .ndjson {
        case .ndjson: NDJSONSource(window, limits: limits)
        case .json: JSONArraySource(window, limits: limits)
        case .csv: try CSVSource(window, delimiter: delimiter ?? implied, limits: limits)
        }
    }
}

/// How a source writes its records.
enum RecordFormat: CaseIterable, Sendable {
    /// One JSON object per line.
    case ndjson
    /// One JSON array of objects.
    case json
    /// Values separated by commas, or another character, under a header line, RFC 4180.
    case csv

    /// The format that a file's name promises, and the delimiter; `nil` if it promises none.
    ///
    /// `.json` promises nothing: such files hold an array or one object per line, which the first byte tells.
    static func named(_ path: String) -> (format: RecordFormat, delimiter: CSVDelimiter)? {
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
        return switch name[name.index(after: dot)...].lowercased() {
        case "ndjson", "jsonl": (.ndjson, .comma)
        case "csv": (.csv, .comma)
        case "tsv", "tab": (.csv, .tab)
        default: nil
        }
    }

    /// The format of a text that begins with `byte`, white space left aside; `nil` is an empty text.
    init(firstByte byte: UInt8?) {
        switch byte {
        case UInt8(ascii: "["): self = .json
        case UInt8(ascii: "{"), nil: self = .ndjson
        default: self = .csv
        }
    }
}

/// No records at all.
struct EmptySource: RecordSource {
    var valuesAreText: Bool { false }
    var bytesConsumed: Int { 0 }

    func next(reads: Bool) -> RecordOutcome? { nil }
}
