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
