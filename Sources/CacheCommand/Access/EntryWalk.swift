import ArchiveStore
import Dispatch
import KeyedArchive
import Synchronization
import TypedCache

/// Goes through all entries of a cache, one after another, and changes nothing.
struct EntryWalk {
    let cache: any CacheAccess
    let interruption: any Interruption
    /// The time since some moment in the past.
    let now: () -> Duration

    /// Gives each entry to `body`, or why it cannot be read, until a signal comes.
    func run(
        reporter: inout EntryReporter,
        _ body: (Result<EntryInformation, CacheError>, inout EntryReporter) throws -> Void
    ) throws {
        let start = now()
        let parts = cache.partCount
        var count = 0
        for part in 0..<parts {
            guard interruption.signal == nil else { return }
            for entry in try cache.entries(inPart: part) {
                guard interruption.signal == nil else { return }
                try body(entry, &reporter)
                count += 1
                // Parts of the hash have about as many entries each. A single part shows no progress.
                reporter.advanced(
                    Progress(
                        records: count,
                        noun: "entries",
                        bytes: part,
                        size: parts > 1 ? parts : nil,
                        elapsed: now() - start
                    )
                )
            }
        }
    }

    /// Has `work` read the parts of the cache, on as many threads as the cache takes, until a signal comes, and gives its
    /// results to `body` in the order of the parts.
    ///
    /// - Parameter work: is given a part; returns its result and how many entries it read.
    func runParts<PartResult: Sendable>(
        reporter: inout EntryReporter,
        _ work: @Sendable (Int) throws -> (result: PartResult, entryCount: Int),
        _ body: (PartResult) -> Void
    ) throws {
        let start = now()
        let partCount = cache.partCount
        // Few parts at a time, so that their results take little memory and the user sees that the work goes on.
        let mostParts = cache.threadCount > 1 ? 4 * cache.threadCount : 1
        var count = 0
        for first in stride(from: 0, to: partCount, by: mostParts) {
            guard interruption.signal == nil else { return }
            let parts = first..<min(first + mostParts, partCount)
            for (part, result) in zip(parts, results(of: parts, work)) {
                let read = try result.get()
                body(read.result)
                count += read.entryCount
                reporter.advanced(
                    Progress(
                        records: count,
                        noun: "entries",
                        bytes: part + 1,
                        size: partCount > 1 ? partCount : nil,
                        elapsed: now() - start
                    )
                )
            }
        }
    }

    private func results<PartResult: Sendable>(
        of parts: Range<Int>,
        _ work: @Sendable (Int) throws -> PartResult
    ) -> [Result<PartResult, any Error>] {
        if parts.count == 1 { return [Result { try work(parts.lowerBound) }] }
        let results = Mutex([Int: Result<PartResult, any Error>]())
        DispatchQueue.concurrentPerform(iterations: parts.count) { index in
            let part = parts.lowerBound + index
            let result = Result { try work(part) }
            results.withLock { $0[part] = result }
        }
        return results.withLock { results in parts.compactMap { results[$0] } }
    }
}

/// A fault of one entry.
struct EntryFinding: Error {
    /// `nil` if the damage leaves no readable key.
    let key: String?
    /// The entry's file, if it is known.
    let place: String?
    let reason: String
    /// Whether no program can ever read the entry; otherwise only this program cannot, or not now.
    let isDamaged: Bool
    /// The entry, if its bytes are those that were saved.
    var entry: EntryInformation?

    init(_ error: CacheError, key: String? = nil, entry: EntryInformation? = nil) {
        self.key = key
        place = error.path
        reason = (error.cause as? StoreError)?.reason ?? error.message
        isDamaged = error.code == .corrupted
        self.entry = entry
    }

    init(_ error: ArchiveError, _ entry: EntryInformation) {
        key = entry.key
        place = nil
        let offset = error.offset.map { ", at byte \($0)" } ?? ""
        reason = "no keyed archive: \(error.message)\(offset)"
        isDamaged = error.code == .corrupted || error.code == .unknownFormat
        self.entry = entry
    }

    /// For people, in one line.
    var prose: String {
        let key = key.map { "'\(EscapedText($0, limit: 200))'" }
        let place = place.map { EscapedText($0).description }
        let words = [key, place].compactMap(\.self).joined(separator: " at ")
        return "\(words.isEmpty ? "an entry" : words): \(EscapedText(reason, limit: 300))"
    }

    /// For programs.
    var json: Record {
        [
            "key": key.map(RecordValue.string) ?? .null,
            "place": place.map(RecordValue.string) ?? .null,
            "reason": .string(reason),
            "damaged": .bool(isDamaged),
        ]
    }
}
