extension CacheEntry {
    /// For programs.
    var json: RecordValue {
        .object(
            Record(
                fields: [
                    RecordField(name: "key", value: .string(key)),
                    RecordField(name: "storedAt", value: .date(storedAt)),
                    RecordField(name: "expiresAt", value: expiresAt.map(RecordValue.date) ?? .null),
                    RecordField(name: "size", value: .int(Int64(size))),
                ] + (model?.fields ?? [])
            )
        )
    }

    /// For people. The keys come last: they are the only cells that have no usual width.
    static func table(_ entries: [CacheEntry]) -> TextTable {
        let hasModels = entries.contains { $0.model != nil }
        var table = TextTable(
            [("STORED", .left), ("EXPIRES", .left), ("SIZE", .right)] + (hasModels ? [("KIND", .left)] : [])
                + [("KEY", .left)]
        )
        for entry in entries {
            table.append(
                [
                    InstantText.text(entry.storedAt),
                    entry.expiresAt.map(InstantText.text) ?? "never",
                    ByteText(entry.size).description,
                ] + (hasModels ? [entry.model?.name ?? ""] : []) + [SafeText(entry.key).description]
            )
        }
        return table
    }
}
