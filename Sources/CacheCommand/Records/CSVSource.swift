/// Reads the records of values under a header line (RFC 4180), separated by commas or another character; every value is
/// a string.
///
/// Empty lines are not records; lines may end in LF or CR LF.
struct CSVSource: RecordSource {
    private var reader: FrameReader<CSVScanner>
    private let limits: RecordLimits
    private let delimiter: CSVDelimiter
    private var names: [String] = []

    /// Reads the header.
    init(_ window: ByteWindow, delimiter: CSVDelimiter, limits: RecordLimits) throws(SourceError) {
        reader = FrameReader(window, scanner: CSVScanner(delimiter: delimiter), limit: limits.bytes)
        self.delimiter = delimiter
        self.limits = limits
        try readHeader()
    }

    var valuesAreText: Bool { true }
    var bytesConsumed: Int { reader.bytesConsumed }
    var columns: [String]? { names }

    mutating func next(reads: Bool) throws(SourceError) -> RecordOutcome? {
        guard let frame = try nextFilledFrame(reads: reads) else { return nil }
        do throws(BadRecordReason) {
            let values = try fields(of: frame)
            guard values.count == names.count else {
                throw .fieldCount(found: values.count, expected: names.count)
            }
            var record = Record()
            record.fields.reserveCapacity(names.count)
            for (name, value) in zip(names, values) {
                record.fields.append(RecordField(name: name, value: .string(value)))
            }
            return .record(.fields(record), line: frame.line)
        } catch {
            return .bad(BadRecord(line: frame.line, reason: error))
        }
    }

    private mutating func readHeader() throws(SourceError) {
        guard let frame = try nextFilledFrame() else { throw .missingHeader }
        do throws(BadRecordReason) {
            names = try fields(of: frame)
        } catch {
            throw .badHeader(line: frame.line, error)
        }
        var seen: Set<String> = []
        for (index, name) in names.enumerated() {
            guard !name.isEmpty else { throw .unnamedColumn(line: frame.line, column: index + 1) }
            guard seen.insert(name).inserted else { throw .duplicateColumn(line: frame.line, name: name) }
        }
    }

    private mutating func nextFilledFrame(reads: Bool = true) throws(SourceError) -> Frame? {
        while let frame = try reader.next(reads: reads) {
            if frame.isTooLong || !isEmptyLine(frame) { return frame }
        }
        return nil
    }

    private func isEmptyLine(_ frame: Frame) -> Bool {
        switch frame.range.count {
        case 0: true
        case 1: reader.window.bytes[frame.range.lowerBound] == UInt8(ascii: "\r")
        default: false
        }
    }

    private func fields(of frame: Frame) throws(BadRecordReason) -> [String] {
        if frame.isTooLong { throw .tooLong(limit: limits.bytes) }
        let record = reader.window.bytes[frame.range]
        return try CSVParser(delimiter: delimiter).fields(record.span, limit: limits.values)
    }
}

/// Finds the line feeds that end CSV records: all outside quoted fields.
///
/// A quote opens a field only at its beginning, so that a stray one costs its own record and not the rest.
struct CSVScanner: FrameScanner {
    private enum Place {
        case fieldStart
        case unquoted
        case quoted
        /// After a quote in a quoted field: the field ends here, or the quote was the first of two.
        case behindQuote
    }

    private let delimiter: UInt8
    private var place = Place.fieldStart
    private(set) var lineFeeds = 0

    init(delimiter: CSVDelimiter) { self.delimiter = delimiter.byte }

    var leadingLineFeeds: Int { 0 }

    mutating func begin() {
        place = .fieldStart
        lineFeeds = 0
    }

    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int? {
        var position = index
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\n") {
                lineFeeds += 1
                if place != .quoted { return position }
            } else {
                pass(byte)
            }
            position &+= 1
        }
        return nil
    }

    private mutating func pass(_ byte: UInt8) {
        switch (place, byte) {
        case (.quoted, UInt8(ascii: "\"")): place = .behindQuote
        case (.quoted, _): break
        case (.fieldStart, UInt8(ascii: "\"")), (.behindQuote, UInt8(ascii: "\"")): place = .quoted
        case (_, delimiter): place = .fieldStart
        default: place = .unquoted
        }
    }
}

/// Cuts one CSV record into its fields (RFC 4180).
struct CSVParser {
    private let delimiter: UInt8

    init(delimiter: CSVDelimiter) { self.delimiter = delimiter.byte }

    /// Returns the fields of `bytes`, a record without its line feed.
    ///
    /// - Parameter limit: how many fields there may be at most.
    func fields(_ bytes: Span<UInt8>, limit: Int) throws(BadRecordReason) -> [String] {
        var end = bytes.count
        if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        var fields: [String] = []
        var position = 0
        while true {
            guard fields.count < limit else { throw .csv(.tooManyFields, column: limit + 1) }
            let isQuoted = position < end && bytes[position] == UInt8(ascii: "\"")
            let field =
                isQuoted
                ? try quoted(bytes, from: &position, to: end, column: fields.count + 1)
                : try plain(bytes, from: &position, to: end, column: fields.count + 1)
            fields.append(field)
            guard position < end else { return fields }
            position += 1  // the delimiter
        }
    }

    private func plain(
        _ bytes: Span<UInt8>,
        from position: inout Int,
        to end: Int,
        column: Int
    ) throws(BadRecordReason) -> String {
        let start = position
        while position < end, bytes[position] != delimiter {
            if bytes[position] == UInt8(ascii: "\"") { throw .csv(.strayQuote, column: column) }
            if bytes[position] == UInt8(ascii: "\r") { throw .csv(.strayCarriageReturn, column: column) }
            position += 1
        }
        guard let text = JSONParser.text(bytes.extracting(start..<position)) else { throw .invalidUTF8 }
        return text
    }

    /// Parses a field that begins with a quote; leaves the position after it.
    private func quoted(
        _ bytes: Span<UInt8>,
        from position: inout Int,
        to end: Int,
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
        guard position >= end || bytes[position] == delimiter else {
            throw .csv(.textAfterQuote, column: column)
        }
        let whole = text[...]
        guard let string = JSONParser.text(whole.span) else { throw .invalidUTF8 }
        return string
    }
}

/// The character between the fields of a record.
struct CSVDelimiter: Sendable, Equatable {
    static let comma = CSVDelimiter(byte: UInt8(ascii: ","))
    static let tab = CSVDelimiter(byte: UInt8(ascii: "\t"))

    let byte: UInt8

    private init(byte: UInt8) { self.byte = byte }

    /// Parses `tab`, or one ASCII character that is neither a letter, a digit, a quote nor the end of a line.
    init(parsing text: String) throws(InvalidValue) {
        if text == "tab" || text == "\\t" {
            self = .tab
            return
        }
        guard let byte = text.utf8.first, text.utf8.count == 1, Self.isUsable(byte) else {
            throw InvalidValue(
                text,
                expected: "tab, or one character such as ; or |",
                words: ["tab", ";", "|", ","]
            )
        }
        self.byte = byte
    }

    private static func isUsable(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\t"), UInt8(ascii: " "): true
        case UInt8(ascii: "\""), 0x80...: false
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    /// The delimiter that the only name of a header seems to have been written with; `nil` if it holds none.
    static func likely(in header: [String]) -> String? {
        guard header.count == 1, let name = header.first else { return nil }
        return [("\t", "tab"), (";", "';'"), ("|", "'|'")].first { name.contains($0.0) }?.1
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
