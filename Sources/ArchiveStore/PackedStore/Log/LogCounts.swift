/// Counts the records and bytes that were appended to a log, or followed in it.
struct LogCounts: Sendable {
    /// Number of records that were appended or followed since the last snapshot.
    private(set) var recordsSinceSnapshot = 0
    /// Number of records that this log appended one by one.
    private(set) var appendedRecordCount = 0
    /// Bytes of records that this log appended, and the part of them that rewrote entries of given-up segments.
    private(set) var appendedByteCount = 0
    private(set) var carriedByteCount = 0

    mutating func noteSnapshot() { recordsSinceSnapshot = 0 }

    mutating func addFollowedRecord() { recordsSinceSnapshot += 1 }

    mutating func addAppendedRecord() { addAppendedRecords(1) }

    mutating func addAppendedRecords(_ count: Int) {
        recordsSinceSnapshot += count
        appendedRecordCount += count
    }

    mutating func addAppendedBatch(of count: Int) { recordsSinceSnapshot += count }

    mutating func addAppendedBytes(_ count: Int) { appendedByteCount += count }

    mutating func addCarriedBytes(_ count: Int) { carriedByteCount += count }
}
