/// Records that are appended together, and those of them that have their places already.
struct RecordBatch {
    /// The most bytes of archives in a batch. While a batch is written, other writers wait: as long as for a segment
    /// that is dropped, at most.
    static let mostBytes = 1 << 20
    /// The most bytes of an archive in a batch: longer ones are not copied before they are written.
    static let mostBytesOfArchive = UncopiedStream.leastArchive - 1

    let records: [NewRecord]
    /// The entries of the first records, in their order.
    private(set) var appended: [EntrySaver.Appended] = []

    init(_ records: [NewRecord]) { self.records = records }

    var rest: ArraySlice<NewRecord> { records[appended.count...] }

    /// Notes the place of the first record that had none.
    mutating func add(_ entry: EntrySaver.Appended) { appended.append(entry) }
}
