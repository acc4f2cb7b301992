import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// `remove`: removes entries by their keys, or all that are selected.
struct Remove: Subcommand {
    static let name = "remove"
    static let summary = "Remove entries from a cache"
    static let discussion: String? =
        "Takes keys, or options that select entries as list does: list with the same options shows them, as does "
        + "--dry-run. The exit code is 1 if one of the keys had no entry."
    static let examples = [
        CommandExample(
            arguments: ["remove", "--cache", "cities", "--", "362", "-1"],
            meaning: "Remove two entries; after -- a key may begin with a dash"
        ),
        CommandExample(
            arguments: ["remove", "-", "--null", "--cache", "cities"],
            meaning: "Remove the keys that list --null writes to a pipe"
        ),
        CommandExample(
            arguments: ["remove", "--cache", "pages", "--prefix", "user/7/", "--dry-run"],
            meaning: "See the entries that would be removed without --dry-run"
        ),
    ]

    @Operand(
        "KEY",
        isOptional: true,
        help: "The keys to remove; - reads them from standard input, one per line, as list prints them"
    )
    var keys: [String]
    let cache = SharedCacheOptions()
    let selection = SelectionOptions()
    @Flag("dry-run", help: "Remove nothing; print the keys of the entries that would be removed, as list does")
    var isTrial: Bool
    @Flag(.rawKeys) var readsRawKeys: Bool
    @Flag(.json) var writesJSON: Bool

    private func keyOrigin() throws(ArgumentError) -> KeySource.Origin {
        try KeySource.Origin(keys, isRaw: readsRawKeys, of: Self.self)
    }

    func validate() throws(ArgumentError) {
        if keys.isEmpty, !readsRawKeys {
            guard selection.isGiven else {
                throw Self.failure(.missingOperand("KEY, or an option that selects entries,"))
            }
        } else {
            if !keys.isEmpty, let option = selection.firstGiven {
                throw Self.failure(.conflictingOptions("KEY", option))
            }
            _ = try keyOrigin()
        }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(self.cache.selection())
        return try selection.isGiven
            ? removeSelected(from: cache, in: environment) : removeKeys(from: cache, in: environment)
    }

    // MARK: By selection

    private func removeSelected(from cache: any CacheAccess, in environment: CommandEnvironment) throws
        -> ExitStatus
    {
        let interruption = environment.trapSignals()
        var count = 0
        var byteCount = 0
        let outcome = Result {
            try cache.forEachEntry(selection.filter, at: environment.date(), until: interruption) { entry in
                if isTrial {
                    if !writesJSON { try environment.output.write("\(EscapedText(entry.key))\n") }
                } else if try !cache.remove(entry) {
                    // Another process has removed or replaced it in the meantime.
                    return true
                }
                count += 1
                byteCount += entry.storedByteCount
                return true
            }
        }
        // The removals before a failure are told all the same.
        let json: Record = [
            "removed": .count(isTrial ? 0 : count), "selected": .count(count), "size": .count(byteCount),
        ]
        if writesJSON {
            try environment.write(json)
        } else if !isTrial {
            try environment.output.write(
                "\(CountText(count, "entry", plural: "entries")) removed, \(ByteText(byteCount))\n"
            )
        }
        try outcome.get()
        return interruption.signal.map(ExitStatus.signal) ?? .success
    }

    // MARK: By keys

    private func removeKeys(from cache: any CacheAccess, in environment: CommandEnvironment) throws -> ExitStatus {
        var keys = try KeySource(keyOrigin(), environment)
        var outcome = Outcome()
        do {
            while let key = try keys.next() {
                try remove(key, from: cache, adding: &outcome, in: environment)
            }
        } catch {
            // The removals before the failure are told all the same.
            try write(outcome, to: environment)
            throw error
        }
        try write(outcome, to: environment)
        return outcome.missingCount == 0 && outcome.invalid == 0 ? .success : .failure
    }

    private struct Outcome {
        /// Entries that were removed, or would be.
        var selected = 0
        var missingCount = 0
        /// The missing keys, only where they are printed: they may be millions.
        var missing: [String] = []
        var invalid = 0
    }

    private func remove(
        _ key: Result<String, BadRecord>,
        from cache: any CacheAccess,
        adding outcome: inout Outcome,
        in environment: CommandEnvironment
    ) throws {
        do {
            let key = try key.get()
            if try isTrial ? holds(key, cache) : cache.remove(key) {
                outcome.selected += 1
                if isTrial, !writesJSON { try environment.output.write("\(EscapedText(key))\n") }
            } else {
                outcome.missingCount += 1
                if writesJSON { outcome.missing.append(key) }
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

    /// Whether there is an entry for a key: a damaged one is removed, too.
    private func holds(_ key: String, _ cache: any CacheAccess) throws(CacheError) -> Bool {
        do throws(CacheError) {
            return try cache.peek(key) { _ in false } != nil
        } catch {
            guard error.code == .corrupted else { throw error }
            return true
        }
    }

    private func write(_ outcome: Outcome, to environment: CommandEnvironment) throws(OutputError) {
        guard writesJSON else { return }
        try environment.write([
            "removed": .count(isTrial ? 0 : outcome.selected), "selected": .count(outcome.selected),
            "missing": .array(outcome.missing.map(RecordValue.string)),
        ])
    }
}
