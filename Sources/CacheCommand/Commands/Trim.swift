import KeyedArchive

/// `trim`: evicts entries until a cache is small enough.
struct Trim: Subcommand {
    static let name = "trim"
    static let summary = "Evict entries of a cache until it is small enough"
    static let discussion: String? =
        "Expired entries go first, then the least useful ones. Asks before it evicts entries that have not "
        + "expired; in a script, use --yes."
    static let examples = [
        CommandExample(
            arguments: ["trim", "--cache", "cities", "--max-size", "8M"],
            meaning: "Leave 8 MiB at most"
        ),
        CommandExample(
            arguments: ["trim", "--cache", "cities", "--max-size", "8M", "--yes"],
            meaning: "The same from a script"
        ),
    ]

    let cache = CacheOptions()
    @Option(
        required: "max-size",
        value: "SIZE",
        help: "Most bytes of entries on disk afterwards (not index, journal), as in 64M",
        parse: SizeLimit.init(parsing:)
    )
    var size: SizeLimit
    @Flag("yes", help: "Do not ask") var isConfirmed: Bool
    @Flag("dry-run", help: "Show the result, and remove nothing") var isDryRun: Bool
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(cache.selection)
        if isDryRun || !isConfirmed {
            let plan = TrimPlan(try cache.statistics(), limit: size)
            if isDryRun {
                try environment.write(plan.json, orProse: plan.prose, asJSON: writesJSON)
                return .success
            }
            guard try plan.evictedBytes == 0 || isAllowed(plan, environment) else { return .failure }
        }
        var summary = TrimSummary()
        let outcome = Result { try cache.trim(to: size, counting: &summary) }
        // Entries that were removed before a failure are reported too.
        if summary.expiredCount != nil {
            try environment.write(summary.json, orProse: summary.prose, asJSON: writesJSON)
        }
        try outcome.get()
        return .success
    }

    /// Asks whether entries that have not expired may go.
    private func isAllowed(_ plan: TrimPlan, _ environment: CommandEnvironment) throws(CommandFailure) -> Bool {
        guard let confirm = environment.confirm else { throw .unconfirmed(command: Self.name) }
        let name = EscapedText(cache.name, limit: 200)
        let question =
            "Evict \(ByteText(plan.evictedBytes)) of the \(ByteText(plan.freshBytes)) of entries of the cache '\(name)'?"
        if confirm(question) { return true }
        environment.errors.report("nothing was removed")
        return false
    }
}

/// The entries that a trim would remove.
struct TrimPlan: Sendable, Equatable {
    /// Expired entries.
    let expiredCount: Int
    /// The bytes on disk of entries that have not expired.
    let freshBytes: Int
    /// How many of these bytes are more than the limit.
    let evictedBytes: Int

    init(_ statistics: StatisticsReport, limit: SizeLimit) {
        expiredCount = statistics.expiredCount
        freshBytes = statistics.freshByteCount
        evictedBytes = max(0, statistics.freshByteCount - limit.bytes.bytes)
    }

    /// For people, in one line.
    var prose: String {
        "\(CountText(expiredCount, "expired entry", plural: "expired entries")) would be removed, "
            + (evictedBytes == 0 ? "no others evicted" : "others of \(ByteText(evictedBytes)) or more evicted")
    }

    /// For programs.
    var json: Record { ["expired": .count(expiredCount), "evictedSize": .count(evictedBytes)] }
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
        let evicted = evictedCount.map { "\(CountText($0, "other", plural: "others")) evicted" }
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
