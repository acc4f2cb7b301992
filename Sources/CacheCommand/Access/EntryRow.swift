import ArchiveStore
import Foundation
import KeyedArchive

/// One entry of a cache, as a list shows it.
package struct EntryRow: Sendable, Equatable {
    package let key: String
    package let storedAt: Date
    /// `nil` is never.
    package let expiresAt: Date?
    /// Bytes on disk.
    package let size: Int
    package let tags: [String]
    /// Of an entry of the library ModelCache, if it was looked into; `nil` for all others.
    package var model: ModelEntry?

    init(_ entry: EntryInformation) {
        key = entry.key
        storedAt = entry.storedAt
        expiresAt = entry.expiresAt
        size = entry.storedByteCount
        tags = entry.attributes.tags
    }

    /// For programs.
    ///
    /// - Parameter hasTags: whether the tags are told.
    func json(hasTags: Bool) -> RecordValue {
        var record: Record = [
            "key": .string(key),
            "storedAt": .date(storedAt),
            "expiresAt": expiresAt.map(RecordValue.date) ?? .null,
            "size": .count(size),
        ]
        if hasTags { record.fields.append(RecordField(name: "tags", value: .array(tags.map(RecordValue.string)))) }
        if let model { record.fields += model.json.fields }
        return .object(record)
    }

    /// The tags in one cell, each escaped.
    private var tagText: String {
        tags.map { EscapedText($0, limit: 80).description }.joined(separator: ", ")
    }

    /// For people. The keys come last: they are the only cells that have no usual width.
    static func table(_ entries: [EntryRow], hasTags: Bool) -> TextTable {
        let hasModels = entries.contains { $0.model != nil }
        var table = TextTable(
            [("STORED", .left), ("EXPIRES", .left), ("SIZE", .right)] + (hasModels ? [("KIND", .left)] : [])
                + (hasTags ? [("TAGS", .left)] : []) + [("KEY", .left)]
        )
        for entry in entries {
            table.append(
                [
                    InstantText.text(entry.storedAt),
                    entry.expiresAt.map(InstantText.text) ?? "never",
                    ByteText(entry.size).description,
                ] + (hasModels ? [entry.model?.name ?? ""] : []) + (hasTags ? [entry.tagText] : [])
                    + [EscapedText(entry.key).description]
            )
        }
        return table
    }

    /// The entries with their kinds, if the library ModelCache has made them.
    ///
    /// The first entry decides for all, since a cache of that library holds one kind. So one archive is read from a
    /// cache of models, or of another program; lists are read one by one, for their numbers of elements.
    static func namingModels(_ entries: [EntryRow], in cache: any CacheAccess, at date: Date) -> [EntryRow] {
        guard let first = entries.first, let sample = ModelEntry(key: first.key, in: cache, at: date) else {
            return entries
        }
        return entries.map { entry in
            var named = entry
            named.model =
                if case .list = sample { ModelEntry(key: entry.key, in: cache, at: date) } else { sample }
            return named
        }
    }
}
