/// No records at all.
struct EmptySource: RecordSource {
    var valuesAreText: Bool { false }
    var bytesConsumed: Int { 0 }

    func next(reads: Bool) -> RecordOutcome? { nil }
}
