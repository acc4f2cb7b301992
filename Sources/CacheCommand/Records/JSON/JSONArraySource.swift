/// Reads the elements of one JSON array, one at a time.
struct JSONArraySource: RecordSource {
    private var reader: FrameReader<JSONArrayScanner>
    private var parser: JSONParser
    private let limits: RecordLimits
    private var isFirst = true

    init(_ window: ByteWindow, limits: RecordLimits) {
        reader = FrameReader(window, scanner: JSONArrayScanner(), limit: limits.bytes)
        parser = JSONParser(limits: limits)
        self.limits = limits
    }

    var valuesAreText: Bool { false }
    var bytesConsumed: Int { reader.bytesConsumed }

    mutating func next(reads: Bool) throws(SourceError) -> RecordOutcome? {
        if reader.scanner.place == .before { try open() }
        if reader.scanner.place == .after { return try close(reads: reads) }
        guard let frame = try reader.next(reads: reads), let terminator = frame.terminator else {
            if reader.isShort { return nil }
            throw .unclosedArray(line: reader.line)
        }
        let isOnly = isFirst && terminator == UInt8(ascii: "]")
        isFirst = false
        if terminator == UInt8(ascii: "]") { reader.scanner.place = .after }
        if frame.isTooLong {
            return .bad(BadRecord(line: frame.line, reason: .tooLong(limit: limits.bytes)))
        }
        let buffer = reader.window.bytes
        let start = buffer[frame.range].firstIndex { !JSONParser.isSpace($0) }
        guard let start else {
            // Only an array without elements may have nothing between two of its marks.
            return isOnly ? try close(reads: reads) : .bad(BadRecord(line: frame.line, reason: .missingElement))
        }
        let element = buffer[start..<frame.range.upperBound]
        return parser.outcome(element.span, line: frame.line)
    }

    private mutating func open() throws(SourceError) {
        guard let frame = try reader.next(), frame.terminator == UInt8(ascii: "[") else {
            throw .notAnArray(line: reader.line)
        }
        reader.scanner.place = .inside
    }

    /// Makes sure that nothing follows.
    private mutating func close(reads: Bool) throws(SourceError) -> RecordOutcome? {
        guard let rest = try reader.next(reads: reads), rest.terminator != nil else { return nil }
        throw .textAfterArray(line: rest.line)
    }
}

/// Finds the commas and brackets between the elements of one JSON array.
///
/// It counts brackets of both kinds alike and knows strings, nothing else: the parser decides whether an element is
/// JSON, and a broken one then costs no more than itself.
struct JSONArrayScanner: FrameScanner {
    enum Place {
        /// Before the array: a frame ends at the first visible byte.
        case before
        /// Between the array's brackets: a frame ends at a comma or at the closing bracket.
        case inside
        /// After the array: a frame ends at the first visible byte.
        case after
    }

    var place = Place.before
    private(set) var lineFeeds = 0
    private(set) var leadingLineFeeds = 0
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasBegun = false

    mutating func begin() {
        lineFeeds = 0
        leadingLineFeeds = 0
        depth = 0
        isInString = false
        isEscaped = false
        hasBegun = false
    }

    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int? {
        var position = index
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\n") {
                lineFeeds += 1
                if !hasBegun { leadingLineFeeds += 1 }
                isEscaped = false
            } else if !hasBegun && !JSONParser.isSpace(byte) {
                hasBegun = true
                if place != .inside { return position }
            }
            if isInString {
                passInString(byte)
            } else if ends(byte) {
                return position
            }
            position &+= 1
        }
        return nil
    }

    private mutating func passInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            isInString = false
        }
    }

    private mutating func ends(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""):
            isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
        case UInt8(ascii: "}"):
            depth = max(0, depth - 1)
        case UInt8(ascii: "]"):
            if depth == 0 { return true }
            depth -= 1
        case UInt8(ascii: ","):
            return depth == 0
        default:
            break
        }
        return false
    }
}
