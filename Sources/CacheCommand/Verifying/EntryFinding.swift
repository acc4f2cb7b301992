import ArchiveStore
import KeyedArchive
import TypedCache

/// A fault of one entry.
struct EntryFinding: Error {
    /// `nil` if the damage leaves no readable key.
    let key: String?
    /// The entry's file, if it is known.
    let place: String?
    let reason: String
    /// Whether no program can ever read the entry; otherwise only this program cannot, or not now.
    let isDamaged: Bool
    /// The entry, if its bytes are those that were saved.
    var entry: EntryInformation?

    init(_ error: CacheError, key: String? = nil, entry: EntryInformation? = nil) {
        self.key = key
        place = error.path
        reason = (error.cause as? StoreError)?.reason ?? error.message
        isDamaged = error.code == .corrupted
        self.entry = entry
    }

    init(_ error: ArchiveError, _ entry: EntryInformation) {
        key = entry.key
        place = nil
        let offset = error.offset.map { ", at byte \($0)" } ?? ""
        reason = "no keyed archive: \(error.message)\(offset)"
        isDamaged = error.code == .corrupted || error.code == .unknownFormat
        self.entry = entry
    }

    /// For people, in one line.
    var prose: String {
        let key = key.map { "'\(SafeText($0, limit: 200))'" }
        let place = place.map { SafeText($0).description }
        let words = [key, place].compactMap(\.self).joined(separator: " at ")
        return "\(words.isEmpty ? "an entry" : words): \(SafeText(reason, limit: 300))"
    }

    /// For programs.
    var json: RecordValue {
        .object(
            Record(fields: [
                RecordField(name: "key", value: key.map(RecordValue.string) ?? .null),
                RecordField(name: "place", value: place.map(RecordValue.string) ?? .null),
                RecordField(name: "reason", value: .string(reason)),
                RecordField(name: "damaged", value: .bool(isDamaged)),
            ])
        )
    }
}
