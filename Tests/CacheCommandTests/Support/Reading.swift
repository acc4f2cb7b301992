@testable import CacheCommand

/// Everything that a source gives, and the error that ended it, if any.
struct Reading: Equatable {
    var outcomes: [RecordOutcome] = []
    var error: SourceError?
    var bytesConsumed = 0

    init(
        _ text: some Sequence<UInt8>,
        format: RecordFormat?,
        delimiter: CSVDelimiter? = nil,
        pieceSize: Int = .max,
        limits: RecordLimits = RecordLimits(),
        location: SourceLocation = .standardInput
    ) {
        do throws(SourceError) {
            let input = MemoryInput(Array(text), pieceSize: pieceSize)
            var source = try RecordSources.open(
                input,
                at: location,
                format: format,
                delimiter: delimiter,
                limits: limits
            )
            while let outcome = try source.next() { outcomes.append(outcome) }
            bytesConsumed = source.bytesConsumed
        } catch {
            self.error = error
        }
    }

    var records: [Record] {
        outcomes.compactMap { if case .record(let record, _) = $0 { record.record } else { nil } }
    }

    var badRecords: [BadRecord] {
        outcomes.compactMap { if case .bad(let badRecord) = $0 { badRecord } else { nil } }
    }

    /// The lines on which the good records begin.
    var lines: [Int] {
        outcomes.compactMap { if case .record(_, let line) = $0 { line } else { nil } }
    }
}
