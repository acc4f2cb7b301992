import Foundation

/// `stats`: prints how much a cache holds.
struct Stats: Subcommand {
    static let name = "stats"
    static let summary = "Print how much a cache holds"
    static let examples = [
        CommandExample(arguments: ["stats", "--cache", "cities", "--json"], meaning: "Feed a monitor")
    ]

    let cache = CacheOptions()
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let report = try environment.backend.open(cache.selection).statistics()
        try environment.write(report.json, orProse: report.prose, asJSON: writesJSON)
        return .success
    }
}

/// How much a cache holds.
package struct StatisticsReport: Sendable, Equatable {
    /// Entries that have not expired.
    package var entryCount = 0
    /// Bytes on disk, expired entries included.
    package var byteCount = 0
    /// Bytes of the archives before compression.
    package var archiveByteCount = 0
    /// Expired entries that are not yet removed.
    package var expiredCount = 0
    /// Entries with damaged bytes that are not yet removed.
    package var damagedCount = 0
    /// When the oldest entry was stored; `nil` if there is none.
    package var oldest: Date?
    /// When the newest entry was stored; `nil` if there is none.
    package var newest: Date?

    /// For programs.
    var json: Record {
        [
            "entries": .count(entryCount),
            "size": .count(byteCount),
            "archiveSize": .count(archiveByteCount),
            "expired": .count(expiredCount),
            "damaged": .count(damagedCount),
            "oldest": oldest.map(RecordValue.date) ?? .null,
            "newest": newest.map(RecordValue.date) ?? .null,
        ]
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
