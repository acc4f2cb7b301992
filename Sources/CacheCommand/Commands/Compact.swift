/// `compact`: gives back the space of removed entries.
struct Compact: Subcommand {
    static let name = "compact"
    static let summary = "Free the space of removed and expired entries"
    static let discussion: String? =
        "Removes expired entries, and frees the bytes of entries that were removed or replaced. Evicts "
        + "nothing: see trim for that. Encrypts entries of an encrypted cache with the first key, as rekey does."
    static let examples = [
        CommandExample(arguments: ["compact", "--cache", "cities"], meaning: "Make the cache's files smaller")
    ]

    let cache = CacheOptions()
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(cache.selection)
        var summary: CompactSummary?
        let outcome = Result { try cache.compact(counting: &summary) }
        // Entries that were removed before a failure are told all the same.
        if let summary { try environment.write(summary.json, orProse: summary.prose, asJSON: writesJSON) }
        try outcome.get()
        return .success
    }
}

/// The result of compacting a cache.
struct CompactSummary: Sendable, Equatable {
    /// Expired entries that were removed.
    var expiredCount: Int
    /// Bytes of all files before.
    var bytesBefore: Int
    /// Bytes of all files afterwards.
    var bytesAfter: Int

    /// For people, in one line.
    var prose: String {
        "\(CountText(expiredCount, "expired entry", plural: "expired entries")) removed, \(ByteText(bytesBefore)) before, "
            + "\(ByteText(bytesAfter)) now"
    }

    /// For programs.
    var json: Record {
        ["expired": .count(expiredCount), "sizeBefore": .count(bytesBefore), "sizeAfter": .count(bytesAfter)]
    }
}
