import ArchiveStore
import Foundation

/// `stats`: prints how much a cache holds.
struct Stats: Subcommand {
    static let name = "stats"
    static let summary = "Print the number and the size of a cache's entries"
    static let examples = [
        CommandExample(arguments: ["stats", "--cache", "cities", "--json"], meaning: "Feed a monitor")
    ]

    let cache = SharedCacheOptions()
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let report = try environment.backend.open(cache.selection()).statistics()
        try environment.write(report.json, orProse: report.prose, asJSON: writesJSON)
        return .success
    }
}

/// How much a cache holds.
struct StatisticsReport: Sendable, Equatable {
    /// Entries that have not expired.
    var entryCount = 0
    /// Bytes on disk, expired entries included.
    var byteCount = 0
    /// Bytes on disk of the entries that have not expired.
    var freshByteCount = 0
    /// Bytes of the archives before compression, those of expired entries included.
    var archiveByteCount = 0
    /// Expired entries that are not yet removed.
    var expiredCount = 0
    /// Entries with damaged bytes that are not yet removed.
    var damagedCount = 0
    /// Values of other programs in the places of entries, on a server; `nil` on disk.
    var foreignCount: Int?
    /// How many entries there are of other schemas, on a server.
    var otherSchemas: [UInt32: Int] = [:]
    /// When the oldest entry was stored; `nil` if there is none.
    var oldest: Date?
    /// When the newest entry was stored; `nil` if there is none.
    var newest: Date?

    mutating func add(_ entry: EntryInformation, isExpired: Bool) {
        byteCount += entry.storedByteCount
        archiveByteCount += entry.archiveByteCount
        if isExpired {
            expiredCount += 1
            return
        }
        entryCount += 1
        freshByteCount += entry.storedByteCount
        oldest = min(oldest ?? entry.storedAt, entry.storedAt)
        newest = max(newest ?? entry.storedAt, entry.storedAt)
    }

    /// For programs.
    var json: Record {
        var record: Record = [
            "entries": .count(entryCount),
            "size": .count(byteCount),
            "archiveSize": .count(archiveByteCount),
            "expired": .count(expiredCount),
            "damaged": .count(damagedCount),
            "oldest": oldest.map(RecordValue.date) ?? .null,
            "newest": newest.map(RecordValue.date) ?? .null,
        ]
        guard let foreignCount else { return record }
        let others = otherSchemas.sorted { $0.key < $1.key }.map { schema, count in
            RecordField(name: "\(schema)", value: .count(count))
        }
        record.fields.append(RecordField(name: "foreign", value: .count(foreignCount)))
        record.fields.append(RecordField(name: "otherSchemas", value: .object(Record(fields: others))))
        return record
    }

    /// For people.
    var prose: String {
        var lines = tableOfEntries
        if let foreignCount, foreignCount > 0 {
            lines += "\nforeign  \(CountText(foreignCount)), of other programs"
        }
        for (schema, count) in otherSchemas.sorted(by: { $0.key < $1.key }) {
            lines += "\nschema   \(schema) has \(CountText(count, "entry", plural: "entries"))"
        }
        return lines
    }

    private var tableOfEntries: String {
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
