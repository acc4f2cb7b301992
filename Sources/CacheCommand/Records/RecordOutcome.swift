/// What stands at one place of a source.
enum RecordOutcome: Sendable, Equatable {
    case record(Record, line: Int)
    case bad(BadRecord)
}
