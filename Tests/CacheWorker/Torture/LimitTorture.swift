import Foundation
import TestSupport
import TypedCache

/// Lets several processes fill one cache that has limits, and checks again and again that it is within them.
///
/// A cache lives for a few rounds; the next one has other limits. Every few milliseconds all processes are stopped, at
/// any point of their work, and the files of entries are counted, with those of unfinished operations. At the end of
/// each round every process must know the totals: a trim to the present length must remove nothing, and a trim to one
/// byte less must remove an entry.
final class LimitTorture {
    private enum Kind: CaseIterable {
        case bytes, count, both
        /// Limits that are far away: no entry may be evicted.
        case generous
    }

    private let settings: TortureSettings
    private var random: SeededGenerator
    private var report = PartReport(part: "limits")

    private static let keys = (0..<96).map { "k\($0)" }

    init(_ settings: TortureSettings) throws {
        self.settings = settings
        random = SeededGenerator(seed: settings.seed)
    }

    /// Goes on until time is up or something is wrong.
    func run() throws -> PartReport {
        let begin = MonotonicTime.now
        let end = begin.advanced(by: settings.duration)
        report.add(settings.processCount, "processes at once")
        var life = 0
        while MonotonicTime.now < end, report.violations.isEmpty, !settings.isInterrupted() {
            let kind = Kind.allCases[life % Kind.allCases.count]
            life += 1
            do {
                try live(life, kind, until: end)
            } catch let error as TortureError {
                let violation = Violation(law: .failed, evidence: error.description)
                report.add([violation], "cache \(life), seed \(settings.seed)")
            }
            settings.progress(report.prose(since: begin))
        }
        report.seconds = report.duration(since: begin)
        return report
    }

    private func live(_ life: Int, _ kind: Kind, until end: MonotonicTime) throws {
        let bytes: Int? =
            switch kind {
            case .bytes, .both: Int.random(in: 130_000...500_000, using: &random)
            case .count: nil
            case .generous: 1_000_000_000
            }
        let count: Int? =
            switch kind {
            case .count, .both: Int.random(in: 5...40, using: &random)
            case .bytes: nil
            case .generous: 10_000
            }
        let folder = try settings.folder("limits").appending(path: "\(life)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let crowd = Crowd(settings, folder: folder, seed: random.next()) { worker, place in
            worker.keys = Self.keys
            worker.mix = .filling
            worker.byteLimit = bytes
            worker.countLimit = count
            // Some keep values in memory as well, and must learn of evictions by the others.
            worker.usesMemory = place % 4 == 3
            worker.followsOthers = worker.usesMemory
        }
        try crowd.start()
        report.add(1, "caches")
        var known: [String: ValueIdentity] = [:]
        var round = 0
        repeat {
            round += 1
            let left = max(.milliseconds(200), MonotonicTime.now.duration(to: end))
            let found = try run(
                crowd,
                limits: (bytes, count),
                isGenerous: kind == .generous,
                for: min(.milliseconds(Int.random(in: 500...1_500, using: &random)), left),
                &known
            )
            report.add(
                found,
                "cache \(life) of \(bytes ?? -1) bytes and \(count ?? -1) entries, seed \(settings.seed)"
            )
        } while round < 3 && MonotonicTime.now < end && report.violations.isEmpty && !settings.isInterrupted()
        try crowd.end()
        if report.violations.isEmpty { try? FileManager.default.removeItem(at: folder) }
    }

    private func run(
        _ crowd: Crowd,
        limits: (bytes: Int?, count: Int?),
        isGenerous: Bool,
        for duration: Duration,
        _ known: inout [String: ValueIdentity]
    ) throws -> [Violation] {
        var history = History(keys: Self.keys, initial: known)
        var violations: [Violation] = []
        try crowd.run(for: duration) {
            usleep(UInt32.random(in: 0...4_000, using: &random))
            try crowd.standingStill {
                let found = try EntryListing(cache: crowd.cache)
                report.add(1, "looks at all files")
                if let violation = excess(found, limits) { violations.append(violation) }
                if !isGenerous { note(found, limits) }
            }
        } heard: { child, records, death in
            report.add(1, "kills")
            history.add(records, writer: child.settings.writer, death: death)
        }
        violations += try totals(crowd, &history, mayGiveUp: !isGenerous)
        violations += try agreement(crowd, &known)
        for (child, records) in try crowd.newRecords() { history.add(records, writer: child.settings.writer) }
        report.add(history.operationCount, "operations")
        report.add(history.reads.count, "reads judged")
        let found = history.judged { crowd.wasBegun($0, $1) }
        // Any entry may be evicted.
        let missing = isGenerous ? [] : found.filter { $0.law == .lost }
        report.add(missing.count, "reads of what was evicted")
        return violations + (isGenerous ? found : found.filter { $0.law != .lost })
    }

    /// The violation of the limits by the files found at one moment.
    private func excess(_ found: EntryListing, _ limits: (bytes: Int?, count: Int?)) -> Violation? {
        let isTooLong = limits.bytes.map { found.byteCount > $0 + found.largestByteCount } ?? false
        let isTooMany = limits.count.map { found.count > $0 + 1 } ?? false
        guard isTooLong || isTooMany else { return nil }
        return Violation(law: .limits, evidence: "\(found.count) files have \(found.byteCount) bytes together")
    }

    private func note(_ found: EntryListing, _ limits: (bytes: Int?, count: Int?)) {
        let shares = [
            limits.bytes.map { found.byteCount * 100 / $0 }, limits.count.map { found.count * 100 / $0 },
        ]
        let share = shares.compactMap { $0 }.max() ?? 0
        let isAbove =
            limits.bytes.map { found.byteCount > $0 } ?? false || limits.count.map { found.count > $0 } ?? false
        report.add(isAbove ? 1 : 0, "of them above a limit by one entry")
        report.raise("percent of a limit at most", to: share)
    }

    /// Whether each process, and one that opens the cache only now, knows the total length of the files.
    private func totals(
        _ crowd: Crowd,
        _ history: inout History,
        mayGiveUp: Bool
    ) throws -> [Violation] {
        let own = crowd.nextSettings(0)
        let log = LogReader(path: own.log)
        var violations: [Violation] = []
        do {
            let worker = try Worker(own)
            // A process that was killed may have announced a save that never came; the next process to open the cache
            // corrects that when it needs to know the total.
            for child in crowd.children { _ = try child.perform(.trim(.max)) }
            // The process that opens it now would correct the total for the others, so it comes last.
            let askers: [(name: String, trim: (Int) throws -> Answer)] =
                crowd.children.map { child in
                    ("process \(child.settings.writer)", { try child.perform(.trim($0)) })
                } + [("one that opens the cache", { worker.perform(.trim($0)) })]
            for (name, trim) in askers {
                if let fault = try fault(crowd, trim, mayGiveUp: mayGiveUp) {
                    violations.append(Violation(law: .limits, evidence: "\(name) \(fault)"))
                }
            }
            report.add(askers.count, "totals asked for")
        }
        let records = try log.newRecords()
        crowd.note(records, writer: own.writer)
        history.add(records, writer: own.writer)
        return violations
    }

    /// Trims the cache to its present length, and then to one byte less, if entries may be evicted.
    ///
    /// - Returns: the fault; `nil` if there was no fault.
    private func fault(
        _ crowd: Crowd,
        _ trim: (Int) throws -> Answer,
        mayGiveUp: Bool
    ) throws -> String? {
        var fault: String?
        // Again if something else may have happened at the same time.
        for _ in 0..<3 {
            let there = try quietByteCount(crowd)
            let answers = (try trim(there), there > 0 && mayGiveUp ? try trim(there - 1) : .count(1))
            switch answers {
            case (.count(0), .count(1...)): return nil
            // Records of removed and overwritten entries may have taken that room.
            case (.count(0), .count(0)) where settings.layout != .files:
                if try EntryListing(cache: crowd.cache).count == 0 { return nil }
                if try quietByteCount(crowd) < there { return nil }
                fault = "did not trim \(there) bytes to one less"
            default:
                fault = "gave \(answers.0), told to trim \(there) bytes to as many, and \(answers.1) to one less"
            }
        }
        return fault
    }

    /// The length of the files once evictions in the background have ended.
    private func quietByteCount(_ crowd: Crowd) throws -> Int {
        var last = -1
        var quiet = 0
        while quiet < 4 {
            let now = try EntryListing(cache: crowd.cache).byteCount
            quiet = now == last ? quiet + 1 : 0
            last = now
            usleep(2_000)
        }
        return last
    }

    /// Reads every key in every process, until evictions in the background have ended.
    private func agreement(_ crowd: Crowd, _ known: inout [String: ValueIdentity]) throws -> [Violation] {
        var violations: [Violation] = []
        for _ in 0..<20 {
            let told = try crowd.told(Self.keys)
            known = told.values.first ?? [:]
            violations = told.violations
            if violations.isEmpty {
                report.add(1, "agreements of all")
                return []
            }
            usleep(20_000)
        }
        return violations
    }
}
