import KeyedArchive

/// `clear`: removes all entries of a cache.
struct Clear: Subcommand {
    static let name = "clear"
    static let summary = "Remove all entries of a cache"
    static let discussion: String? =
        "Asks first; in a script, use --yes. Counts a server's entries only for --json, because that reads "
        + "all keys of the server."
    static let examples = [
        CommandExample(
            arguments: ["clear", "--cache", "cities", "--yes"],
            meaning: "Empty the cache from a script"
        )
    ]

    let cache = SharedCacheOptions()
    @Flag("yes", help: "Do not ask") var isConfirmed: Bool
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        if !isConfirmed, environment.confirm == nil { throw CommandFailure.unconfirmed(command: Self.name) }
        // Opened before the question, so that a missing cache is an error and no question.
        let cache = try environment.backend.open(self.cache.selection())
        if !isConfirmed, let confirm = environment.confirm {
            let name = EscapedText(self.cache.name, limit: 200)
            var question = "Remove all entries of the cache '\(name)'?"
            if case .shared(let place) = try self.cache.selection().location {
                question =
                    "Remove all entries of the cache '\(name)', of all schemas, on \(EscapedText(place.shownURL))?"
            }
            guard confirm(question) else {
                environment.errors.report("nothing was removed")
                return .failure
            }
        }
        if let summary = try cache.removeAll(mustCount: writesJSON) {
            try environment.write(summary.json, orProse: summary.prose, asJSON: writesJSON)
        }
        return .success
    }
}

/// The result of clearing a cache.
struct ClearSummary: Sendable, Equatable {
    /// Entries that were removed, expired and damaged ones included.
    var entryCount: Int
    /// Their bytes on disk; `nil` for those of a server.
    var byteCount: Int?

    /// For people, in one line.
    var prose: String {
        let count = "\(CountText(entryCount, "entry", plural: "entries")) removed"
        return byteCount.map { "\(count), \(ByteText($0))" } ?? count
    }

    /// For programs.
    var json: Record {
        let counts = [("removed", entryCount), ("size", byteCount)]
        return Record(
            fields: counts.compactMap { name, count in
                count.map { RecordField(name: name, value: .count($0)) }
            }
        )
    }
}
