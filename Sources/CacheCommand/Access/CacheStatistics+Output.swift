import Foundation

extension CacheStatistics {
    /// For programs.
    var json: RecordValue {
        .object(
            Record(fields: [
                RecordField(name: "entries", value: .int(Int64(entryCount))),
                RecordField(name: "size", value: .int(Int64(byteCount))),
                RecordField(name: "archiveSize", value: .int(Int64(archiveByteCount))),
                RecordField(name: "expired", value: .int(Int64(expiredCount))),
                RecordField(name: "damaged", value: .int(Int64(damagedCount))),
                RecordField(name: "oldest", value: oldest.map(RecordValue.date) ?? .null),
                RecordField(name: "newest", value: newest.map(RecordValue.date) ?? .null),
            ])
        )
    }

    /// For people.
    var prose: String {
        let instant = { (date: Date?) in date.map(InstantText.text) ?? "none" }
        return """
            entries  \(CountText(entryCount))
            size     \(ByteText(byteCount)), \(ByteText(archiveByteCount)) before compression
            expired  \(CountText(expiredCount))
            damaged  \(CountText(damagedCount))
            oldest   \(instant(oldest))
            newest   \(instant(newest))

            """
    }
}
