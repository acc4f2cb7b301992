/// Reads one JSON object per line; blank lines are skipped, and a line may end in CR LF.
struct NDJSONSource: RecordSource {
    private var reader: FrameReader<LineScanner>
    private var parser: JSONParser
    private let limits: RecordLimits

    init(_ window: ByteWindow, limits: RecordLimits) {
        reader = FrameReader(window, scanner: LineScanner(), limit: limits.bytes)
        parser = JSONParser(limits: limits)
        self.limits = limits
    }

    var valuesAreText: Bool { false }
    var bytesConsumed: Int { reader.bytesConsumed }

    mutating func next(reads: Bool) throws(SourceError) -> RecordOutcome? {
        while let frame = try reader.next(reads: reads) {
            if frame.isTooLong {
                return .bad(BadRecord(line: frame.line, reason: .tooLong(limit: limits.bytes)))
            }
            let record = reader.window.bytes[frame.range]
            let bytes = record.span
            if JSONParser.isBlank(bytes) { continue }
            return parser.outcome(bytes, line: frame.line)
        }
        return nil
    }
}

/// Every line is a record; or every text that ends in another `terminator`, which then counts as a line.
struct LineScanner: FrameScanner {
    var terminator = UInt8(ascii: "\n")
    private(set) var lineFeeds = 0
    var leadingLineFeeds: Int { 0 }

    mutating func begin() {
        lineFeeds = 0
    }

    mutating func end(in bytes: Span<UInt8>, from index: Int, to end: Int) -> Int? {
        var position = index
        while position < end {
            if bytes[position] == terminator {
                lineFeeds = 1
                return position
            }
            position &+= 1
        }
        return nil
    }
}
