/// Reads the records of comma-separated values under a header line (RFC 4180); every value is a string.
///
/// Empty lines are no records; lines may end in LF or CR LF.
struct CSVSource: RecordSource {
    private var reader: FrameReader<CSVScanner>
    private let limits: RecordLimits
    private var names: [String] = []

    /// Reads the header.
    init(_ window: ByteWindow, limits: RecordLimits) throws(SourceError) {
        reader = FrameReader(window, scanner: CSVScanner(), limit: limits.bytes)
        self.limits = limits
        try readHeader()
    }

    var valuesAreText: Bool { true }
    var bytesConsumed: Int { reader.bytesConsumed }

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
            return .record(record, line: frame.line)
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
        return try CSVParser.fields(record.span, limit: limits.values)
    }
}

/// Finds the line feeds that end CSV records: those that stand in no quoted field.
///
/// A quote opens a field only at its beginning, so that a stray one costs its own record and not the rest.
struct CSVScanner: FrameScanner {
    private enum Place {
        case fieldStart
        case unquoted
        case quoted
        /// Behind a quote in a quoted field: the field ends here, or the quote was the first of two.
        case behindQuote
    }

    private var place = Place.fieldStart
    private(set) var lineFeeds = 0
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
        case (_, UInt8(ascii: ",")): place = .fieldStart
        default: place = .unquoted
        }
    }
}
