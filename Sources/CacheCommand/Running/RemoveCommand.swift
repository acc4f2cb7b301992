import TypedCache

/// Runs `remove`.
struct RemoveCommand {
    let options: KeyOptions

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(options.cache)
        var keys = try KeySource(options.keys, environment)
        var outcome = Outcome()
        do {
            while let key = try keys.next() { try remove(key, from: cache, in: environment, &outcome) }
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
        in environment: CommandEnvironment,
        _ outcome: inout Outcome
    ) throws {
        do {
            let key = try key.get()
            if try cache.remove(key) {
                outcome.removed += 1
            } else {
                outcome.missing.append(key)
                environment.errors.report(CommandFailureMessage(CommandFailure.noEntry(key: key)))
            }
        } catch let bad as BadRecord {
            outcome.invalid += 1
            environment.errors.report(BadRecordMessage(bad))
        } catch let error as CacheError where error.code == .invalidKey {
            outcome.invalid += 1
            environment.errors.report(CommandFailureMessage(error))
        }
    }

    private func write(_ outcome: Outcome, to environment: CommandEnvironment) throws {
        guard options.writesJSON else { return }
        let fields = [
            RecordField(name: "removed", value: .int(Int64(outcome.removed))),
            RecordField(name: "missing", value: .array(outcome.missing.map(RecordValue.string))),
        ]
        try JSONWriter.write(.object(Record(fields: fields)), isIndented: false, to: environment.output)
    }
}
