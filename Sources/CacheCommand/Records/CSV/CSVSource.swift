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
