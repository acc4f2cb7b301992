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

    /// An entry of the list, and its archive if it was read together with others.
    struct Listed {
        let entry: Result<EntryInformation, CacheError>
        fileprivate(set) var archive: Result<StoredArchive?, CacheError>?
    }

    /// The bytes of archives that are read together with others at most.
    private static let bytesAtOnce = 4 << 20

    /// Gives each entry to `body`, or why it cannot be read, until a signal comes.
    func run(
        reporter: inout EntryReporter,
        _ body: (Listed, inout EntryReporter) throws -> Void
    ) throws {
        let start = now()
        let parts = cache.partCount
        let limit = cache.entriesAtOnce
        var count = 0
        var waiting: [(listed: Listed, part: Int)] = []
        var byteCount = 0
        func give() throws {
            if limit > 1 { readAhead(&waiting) }
            for (listed, part) in waiting {
                guard interruption.signal == nil else { return }
                try body(listed, &reporter)
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
            waiting.removeAll(keepingCapacity: true)
            byteCount = 0
        }
        try cache.forEachListed(until: interruption) { entry, part in
            waiting.append((Listed(entry: entry), part))
            if case .success(let entry) = entry { byteCount += entry.archiveByteCount }
            if waiting.count >= limit || byteCount >= Self.bytesAtOnce { try give() }
            return true
        }
        try give()
    }

    private func readAhead(_ waiting: inout [(listed: Listed, part: Int)]) {
        let places = waiting.indices.filter { if case .success = waiting[$0].listed.entry { true } else { false } }
        let keys = places.compactMap {
            if case .success(let entry) = waiting[$0].listed.entry { entry.key } else { nil }
        }
        for (place, archive) in zip(places, cache.peek(keys)) { waiting[place].listed.archive = archive }
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
        // Some parts at a time, so that the user sees that the work goes on. As many more as take little time: threads
        // wait for one another after each time.
        var atOnce = cache.threadCount > 1 ? 4 * cache.threadCount : 1
        var count = 0
        var first = 0
        while first < partCount {
            guard interruption.signal == nil else { return }
            let parts = first..<min(first + atOnce, partCount)
            first = parts.upperBound
            let roundStart = now()
            let results = results(of: parts, work)
            if atOnce > 1, now() - roundStart < Self.shortRound { atOnce *= 2 }
            for (part, result) in zip(parts, results) {
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

    private static let shortRound = Duration.milliseconds(50)

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
    /// The entry, if its bytes are unchanged since the save.
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

    /// For people, in one line, with the remedy.
    var complaint: String { isDamaged ? "\(prose); typed-cache verify --repair removes damaged entries" : prose }

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
