import ArchiveStore
import Foundation
import KeyedArchive

/// One entry of a cache, as a list shows it.
struct EntryRow: Sendable, Equatable {
    let key: String
    let storedAt: Date
    /// `nil` is never.
    let expiresAt: Date?
    /// Bytes on disk.
    let size: Int
    let tags: [String]
    /// Of an entry of the library ModelCache, if it was looked into; `nil` for all others.
    var model: ModelEntry?

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

    /// The columns of a table for people. The keys come last: they are the only cells that have no usual width.
    static func columns(hasModels: Bool, hasTags: Bool) -> [TableColumn] {
        [("STORED", .left), ("EXPIRES", .left), ("SIZE", .right)] + (hasModels ? [("KIND", .left)] : [])
            + (hasTags ? [("TAGS", .left)] : []) + [("KEY", .left)]
    }

    func cells(hasModels: Bool, hasTags: Bool) -> [String] {
        [
            InstantText.text(storedAt),
            expiresAt.map(InstantText.text) ?? "never",
            ByteText(size).description,
        ] + (hasModels ? [model?.name ?? ""] : []) + (hasTags ? [tagText] : []) + [EscapedText(key).description]
    }
}
