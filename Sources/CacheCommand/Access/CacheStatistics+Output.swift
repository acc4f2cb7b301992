import Foundation

extension CacheStatistics {
    /// For programs.
    var json: RecordValue {
        .object(
            Record(fields: [
                RecordField(name: "entries", value: .int(Int64(entryCount))),
                RecordField(name: "bytes", value: .int(Int64(byteCount))),
                RecordField(name: "expired", value: .int(Int64(expiredCount))),
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
            size     \(ByteText(byteCount))
            expired  \(CountText(expiredCount))
            oldest   \(instant(oldest))
            newest   \(instant(newest))

            """
    }
}
