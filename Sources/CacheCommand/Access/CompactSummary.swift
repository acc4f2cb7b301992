/// The result of compacting a cache.
package struct CompactSummary: Sendable, Equatable {
    /// Expired entries that were removed.
    package var expiredCount: Int
    /// Bytes of all files before.
    package var bytesBefore: Int
    /// Bytes of all files afterwards.
    package var bytesAfter: Int

    /// For people, in one line.
    var prose: String {
        "\(CountText(expiredCount, "expired entry", "expired entries")) removed, \(ByteText(bytesBefore)) before, "
            + "\(ByteText(bytesAfter)) now"
    }

    /// For programs.
    var json: RecordValue {
        .object(
            Record(fields: [
                RecordField(name: "expired", value: .int(Int64(expiredCount))),
                RecordField(name: "sizeBefore", value: .int(Int64(bytesBefore))),
                RecordField(name: "sizeAfter", value: .int(Int64(bytesAfter))),
            ])
        )
    }
}
