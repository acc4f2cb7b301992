import ArchiveStore
import TypedCache

/// `rekey`: encrypts the entries of a cache again with another key.
struct Rekey: Subcommand {
    static let name = "rekey"
    static let summary = "Encrypt the entries of a cache again with another key"
    static let discussion: String? =
        "Writes every entry again that has a former key, with the first key of --key-file; the other lines of "
        + "the file have the former keys. Afterwards these can be forgotten. Programs that have the cache open "
        + "must use the new key by then: one that goes on to save with a former key needs that one, and the exit "
        + "code is 1. Ctrl-C stops it; until it has run to its end, all keys are needed."
    static let examples = [
        CommandExample(
            arguments: ["rekey", "--cache", "cities", "--key-file", "keys"],
            meaning: "Encrypt all entries with the key in the first line"
        )
    ]

    let cache = CacheOptions()
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        if cache.keys.firstGiven == nil { throw Self.failure(.missingOption("--key-file or --key-env")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        let cache = try environment.backend.open(cache.selection)
        let start = environment.now()
        var bar = ProgressBar(on: environment.errors)
        defer { bar.erase() }
        let result = try cache.rekey { done in
            bar.update(
                Progress(
                    records: done.entryCount,
                    noun: "entries",
                    bytes: done.byteCount,
                    size: done.totalByteCount,
                    elapsed: environment.now() - start
                )
            )
            return interruption.signal == nil
        }
        bar.erase()
        let summary = RekeySummary(result: result, signal: interruption.signal)
        try environment.write(summary.json, orProse: summary.prose, asJSON: writesJSON)
        if let signal = summary.signal { return .signal(signal) }
        return result.formerKeys.isEmpty ? .success : .failure
    }
}

/// The result of encrypting a cache's entries again.
struct RekeySummary {
    let result: Rekeyed
    /// The signal that ended it early, if one did.
    let signal: Int32?

    /// For people, in one line.
    var prose: String {
        let written =
            "\(CountText(result.entryCount, "entry", plural: "entries")) written again, \(ByteText(result.size.bytes)); "
        if result.formerKeys.isEmpty { return written + "former keys can be forgotten" }
        let keys = result.formerKeys.sorted().map { $0 == 0 ? "an unknown key" : "key \($0)" }
        let needed = written + keys.joined(separator: ", ") + (keys.count == 1 ? " is" : " are") + " still needed"
        return signal == nil ? needed + ": another program saves with it" : needed + ", interrupted"
    }

    /// For programs. Numbers of keys are strings: they have more digits than numbers in many readers of JSON.
    var json: Record {
        [
            "rewritten": .count(result.entryCount),
            "size": .count(result.size.bytes),
            "formerKeys": .array(result.formerKeys.sorted().map { .string(String($0)) }),
            "interrupted": .bool(signal != nil),
        ]
    }
}
