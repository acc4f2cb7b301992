/// `trim`: gives entries up until a cache is small enough.
struct Trim: Subcommand {
    static let name = "trim"
    static let summary = "Give up entries of a cache until it is small enough"
    static let discussion: String? = "Entries that have expired go first, then the least useful ones."
    static let examples = [
        CommandExample(
            arguments: ["trim", "--cache", "cities", "--max-size", "8M"],
            meaning: "Leave 8 MiB at most"
        )
    ]

    let cache = CacheOptions()
    @Option(
        required: "max-size",
        value: "SIZE",
        help: "Most bytes of entries on disk afterwards (not index, journal), as in 64M",
        parse: SizeLimit.init(parsing:)
    )
    var size: SizeLimit
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(cache.selection)
        var summary = TrimSummary()
        let outcome = Result { try cache.trim(to: size, counting: &summary) }
        // Entries that were removed before a failure are told all the same.
        if summary.expiredCount != nil {
            try environment.write(summary.json, orProse: summary.prose, asJSON: writesJSON)
        }
        try outcome.get()
        return .success
    }
}

/// The result of making a cache smaller; `nil` where that failed, and the number is not known.
struct TrimSummary: Sendable, Equatable {
    /// Expired entries that were removed.
    var expiredCount: Int?
    /// Fresh entries that were evicted.
    var evictedCount: Int?

    /// For people, in one line.
    var prose: String {
        let expired = expiredCount.map { "\(CountText($0, "expired entry", plural: "expired entries")) removed" }
        let evicted = evictedCount.map { "\(CountText($0)) others evicted" }
        return [expired, evicted].compactMap(\.self).joined(separator: ", ")
    }

    /// For programs.
    var json: Record {
        let counts = [("expired", expiredCount), ("evicted", evictedCount)]
        return Record(
            fields: counts.compactMap { name, count in
                count.map { RecordField(name: name, value: .count($0)) }
            }
        )
    }
}
