import TypedCache

/// `remove`: removes entries by their keys.
struct Remove: Subcommand {
    static let name = "remove"
    static let summary = "Remove entries from a cache"
    static let discussion: String? = "The exit code is 1 if one of the keys had no entry."
    static let examples = [
        CommandExample(
            arguments: ["remove", "--cache", "cities", "--", "362", "-1"],
            meaning: "Remove two entries; behind -- a key may begin with a dash"
        ),
        CommandExample(
            arguments: ["remove", "-", "--null", "--cache", "cities"],
            meaning: "Remove the keys that a pipe from list --null brings"
        ),
    ]

    @Operand("KEY", help: "The keys to remove; - reads them from standard input, one per line, as list prints them")
    var keys: [String]
    let cache = CacheOptions()
    @Flag(.rawKeys) var readsRawKeys: Bool
    @Flag(.json) var writesJSON: Bool

    private func keyOrigin() throws(ArgumentError) -> KeySource.Origin {
        try KeySource.Origin(keys, isRaw: readsRawKeys, of: Self.self)
    }

    func validate() throws(ArgumentError) { _ = try keyOrigin() }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(self.cache.selection)
        var keys = try KeySource(keyOrigin(), environment)
        var outcome = Outcome()
        do {
            while let key = try keys.next() {
                try remove(key, from: cache, adding: &outcome, reportingTo: environment.errors)
            }
        } catch {
            // The removals before the failure are told all the same.
            try write(outcome, to: environment)
            throw error
        }
        try write(outcome, to: environment)
        return outcome.missing.isEmpty && outcome.invalid == 0 ? .success : .failure
    }

    private struct Outcome {
        var removed = 0
        var missing: [String] = []
        var invalid = 0
    }

    private func remove(
        _ key: Result<String, BadRecord>,
        from cache: any CacheAccess,
        adding outcome: inout Outcome,
        reportingTo errors: any ErrorOutput
    ) throws {
        do {
            let key = try key.get()
            if try cache.remove(key) {
                outcome.removed += 1
            } else {
                outcome.missing.append(key)
                errors.report(CommandFailureMessage(CommandFailure.noEntry(key: key)))
            }
        } catch let bad as BadRecord {
            outcome.invalid += 1
            errors.report(BadRecordMessage(bad))
        } catch let error as CacheError where error.code == .invalidKey {
            outcome.invalid += 1
            errors.report(CommandFailureMessage(error))
        }
    }

    private func write(_ outcome: Outcome, to environment: CommandEnvironment) throws(OutputError) {
        guard writesJSON else { return }
        try environment.write([
            "removed": .count(outcome.removed),
            "missing": .array(outcome.missing.map(RecordValue.string)),
        ])
    }
}
