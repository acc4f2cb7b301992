import ArchiveStore
import Foundation

/// `verify`: reads every entry whole, and removes the damaged ones if asked.
struct Verify: Subcommand {
    static let name = "verify"
    static let summary = "Read every entry of a cache, and report damaged ones"
    static let discussion: String? =
        "Checks each entry's checksum, inflates it, and reads its archive as dump does; of an archive above "
        + "16 MiB only the beginning. Changes nothing without --repair. The exit code is 1 if an entry is "
        + "damaged or cannot be read, even if it was repaired."
    static let examples = [
        CommandExample(
            arguments: ["verify", "--cache", "cities"],
            meaning: "Check all entries"
        ),
        CommandExample(
            arguments: ["verify", "--cache", "cities", "--repair"],
            meaning: "Remove damaged entries"
        ),
    ]

    let cache = SharedCacheOptions()
    @Flag("repair", help: "Remove the damaged entries") var repairs: Bool
    @Flag(.json) var writesJSON: Bool

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        let cache = try environment.backend.open(self.cache.selection())
        let walk = EntryWalk(cache: cache, interruption: interruption, now: environment.now)
        let date = environment.date()
        var reporter = EntryReporter(environment.errors)
        var summary = VerifySummary()
        defer { reporter.finish() }
        if cache.entriesAtOnce > 1 {
            let reader = EntryReader(cache: cache)
            try walk.run(reporter: &reporter) { listed, _ in
                try summary.add(at: date) { try reader.read(listed.entry, as: listed.archive) }
            }
        } else {
            try walk.runParts(reporter: &reporter) { part in
                try VerifySummary.verified(part, of: cache, at: date, until: interruption)
            } _: { part in
                summary.add(part)
            }
        }
        reporter.finish()
        summary.signal = interruption.signal
        // Not after an interruption: the user has not seen every entry that would be removed.
        if repairs, summary.signal == nil { summary.removed = try repair(cache, summary.findings) }
        try environment.printToReader { try show(summary, environment) }
        if let signal = summary.signal { return .signal(signal) }
        return summary.findings.isEmpty ? .success : .failure
    }

    /// Removes the damaged entries. Those with the bytes that were saved, but no keyed archive in them, are removed one
    /// by one; all others together.
    private func repair(_ cache: any CacheAccess, _ findings: [EntryFinding]) throws -> Int {
        var count = 0
        for finding in findings where finding.isDamaged {
            if let entry = finding.entry, try cache.remove(entry) { count += 1 }
        }
        return try count + cache.removeDamaged()
    }

    private func show(_ summary: VerifySummary, _ environment: CommandEnvironment) throws {
        for finding in summary.findings where !writesJSON {
            try environment.output.write("\(finding.isDamaged ? "damaged" : "not readable")  \(finding.prose)\n")
        }
        try environment.write(summary.json, orProse: summary.prose, asJSON: writesJSON)
    }
}

/// The result of reading every entry of a cache.
struct VerifySummary: Sendable {
    /// Entries that are whole and have not expired.
    var sound = 0
    /// Entries that are whole and have expired.
    var expired = 0
    /// The faults of all other entries.
    var findings: [EntryFinding] = []
    /// How many damaged entries were removed; `nil` if that was not asked for.
    var removed: Int?
    /// The signal that ended it early, if one did.
    var signal: Int32?

    /// Reads the entries of a part, until a signal comes; returns how many were read, too.
    static func verified(
        _ part: Int,
        of cache: any CacheAccess,
        at date: Date,
        until interruption: any Interruption
    ) throws -> (result: VerifySummary, entryCount: Int) {
        typealias PartResult = (summary: VerifySummary, count: Int, failure: (any Error)?)
        let reader = EntryReader(cache: cache)
        let initial: PartResult = (VerifySummary(), 0, nil)
        let result = try cache.reduceEntries(
            inPart: part,
            archivesUpTo: EntryReader.mostBytesAtHand,
            into: initial
        ) { result, entry, archive in
            guard interruption.signal == nil else { return false }
            result.count += 1
            do {
                if let archive, case .success(let entry) = entry {
                    try EntryReader.check(archive, of: entry)
                    result.summary.add(entry, at: date)
                } else {
                    try result.summary.add(at: date) { try reader.read(entry) }
                }
            } catch let finding as EntryFinding {
                result.summary.findings.append(finding)
            } catch {
                result.failure = error
            }
            return result.failure == nil
        }
        if let failure = result.failure { throw failure }
        return (result.summary, result.count)
    }

    /// Counts the entry that `read` reads, or its fault.
    mutating func add(at date: Date, _ read: () throws -> EntryInformation?) throws {
        do {
            if let entry = try read() { add(entry, at: date) }
        } catch let finding as EntryFinding {
            findings.append(finding)
        }
    }

    /// Counts an entry that is whole.
    mutating func add(_ entry: EntryInformation, at date: Date) {
        if entry.isExpired(at: date) { expired += 1 } else { sound += 1 }
    }

    mutating func add(_ part: VerifySummary) {
        sound += part.sound
        expired += part.expired
        findings += part.findings
    }

    var damaged: Int { findings.count { $0.isDamaged } }
    /// Entries that may be whole: of a newer version, say, or on a device that fails.
    var unreadable: Int { findings.count - damaged }

    /// For people, in one line.
    var prose: String {
        let counts = "\(CountText(sound)) sound, \(CountText(expired)) expired, \(CountText(damaged)) damaged"
        let others = unreadable > 0 ? ", \(CountText(unreadable)) not readable" : ""
        let removal = removed.map { ", \(CountText($0)) removed" } ?? ""
        return "\(counts)\(others)\(removal)\(signal == nil ? "" : ", interrupted")"
    }

    /// For programs.
    var json: Record {
        [
            "sound": .count(sound),
            "expired": .count(expired),
            "damaged": .count(damaged),
            "unreadable": .count(unreadable),
            "removed": .count(removed ?? 0),
            "interrupted": .bool(signal != nil),
            "findings": .array(findings.map { .object($0.json) }),
        ]
    }
}
