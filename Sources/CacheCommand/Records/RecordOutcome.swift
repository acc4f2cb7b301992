/// The result of reading one record: the record, or why it cannot be taken.
enum RecordOutcome: Sendable, Equatable {
    case record(Record, line: Int)
    case bad(BadRecord)
}
