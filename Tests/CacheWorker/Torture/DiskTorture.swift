import Foundation
import TestSupport
import TypedCache

/// Fills a small disk until saves fail, again and again, and sees that no other entry suffers.
final class DiskTorture {
    private let settings: TortureSettings
    private var random: SeededGenerator
    private var report = PartReport(part: "disk")

    private static let keys = (0..<240).map { "k\($0)" }

    /// Which entries of a full disk are removed, in the order in which they were saved.
    private enum Choice: CaseIterable {
        case first, between, last, scattered

        /// From a fifth to a half of them.
        func keys(of keys: [String], using random: inout SeededGenerator) -> [String] {
            let count = max(1, keys.count / Int.random(in: 2...5, using: &random))
            let rest = keys.count - count
            return switch self {
            case .first: Array(keys[..<count])
            case .between: Array(keys.dropFirst(Int.random(in: 0...rest, using: &random)).prefix(count))
            case .last: Array(keys[rest...])
            case .scattered: Array(keys.shuffled(using: &random).prefix(count))
            }
        }
    }

    init(_ settings: TortureSettings) throws {
        self.settings = settings
        random = SeededGenerator(seed: settings.seed)
    }

    /// One disk with few bytes, then one with few files, if entries have files of their own; until time is up or something is wrong, but both at least
    /// once.
    func run() throws -> PartReport {
        let begin = MonotonicTime.now
        let end = begin.advanced(by: settings.duration)
        var round = 0
        repeat {
            // A packed store has few files.
            let disks = settings.layout == .files ? ["size=1m", "size=64m,nr_inodes=300"] : ["size=1m"]
            for options in disks {
                round += 1
                let folder = try settings.folder("disk-\(round)")
                guard SmallVolume.isPossible else {
                    report.skipped = "a small disk cannot be mounted here"
                    return report
                }
                report.add(1, "disks")
                let violations = try SmallVolume.mount(options, at: folder.path) { try fill(folder, round) }
                report.add(violations, "disk \(round) (\(options)), seed \(settings.seed)")
            }
        } while MonotonicTime.now < end && report.violations.isEmpty && !settings.isInterrupted()
        report.seconds = report.duration(since: begin)
        return report
    }

    private func fill(_ disk: URL, _ round: Int) throws -> [Violation] {
        let log = try settings.folder("logs").appending(path: "disk-\(round)").path
        let own = WorkerSettings(
            directory: disk.path,
            layout: settings.layout,
            log: log + ".log",
            writer: 1,
            seed: random.next(),
            keys: Self.keys,
            usesMemory: Bool.random(using: &random)
        )
        let worker = try Worker(own)
        var violations: [Violation] = []
        for choice in Choice.allCases.shuffled(using: &random) {
            var failures = 0
            var order: [String: Int] = [:]
            // Beyond the first failure, for others hit keys that have a value.
            for number in 0..<2_000 where failures < 40 {
                let key = Self.keys[Int.random(in: 0..<Self.keys.count, using: &random)]
                if case .failed = worker.perform(.save(key)) {
                    failures += 1
                    worker.perform(.fetch(key))
                    worker.perform(.contains(key))
                } else {
                    order[key] = number
                }
            }
            if failures == 0 { violations.append(Violation(law: .failed, evidence: "the disk never got full")) }
            for key in Self.keys { worker.perform(.fetch(key)) }

            guard case .keys(let present) = worker.perform(.keys), present.count > 1 else { break }
            let candidates = present.sorted { order[$0, default: 0] < order[$1, default: 0] }
            let removed = choice.keys(of: candidates, using: &random)
            let former = try worker.storedByteCounts()
            for key in removed { worker.perform(.remove(key)) }
            let room = removed.reduce(0) { $0 + blocks(former[$1] ?? 0) }
            let (savedCount, violation) = try refill(removed, room: room, by: worker)
            if let violation { violations.append(violation) }
            report.add(savedCount, "saves after room was made")
            report.add(1, "removals of \(choice) entries")
        }
        // The view of another process.
        var anew = own
        anew.log = log + "-anew.log"
        anew.writer = 2
        anew.usesMemory = false
        let other = try Worker(anew)
        for key in Self.keys { other.perform(.fetch(key)) }
        other.perform(.keys)

        var history = History(keys: Self.keys, expectedFailure: ENOSPC)
        history.add(try LogReader(path: own.log).newRecords(), writer: own.writer)
        history.add(try LogReader(path: anew.log).newRecords(), writer: anew.writer)
        report.add(history.failedSaveCount, "saves that failed")
        report.add(history.operationCount, "operations")
        report.add(history.reads.count, "reads judged")
        return violations + history.judged()
    }

    /// Saves keys again after their entries, of `room` bytes in all, were removed: their room must be free again.
    private func refill(
        _ keys: [String],
        room: Int,
        by worker: Worker
    ) throws -> (savedCount: Int, violation: Violation?) {
        var savedCount = 0
        var savedByteCount = 0
        var violation: Violation?
        for key in keys {
            if worker.perform(.save(key)) == .done {
                savedCount += 1
                savedByteCount += blocks(try worker.storedByteCounts()[key] ?? 0)
                continue
            }
            let needed = blocks(worker.savedByteCount + Self.overhead)
            guard savedByteCount + needed + Self.slack < room, violation == nil else { continue }
            let evidence =
                "no room for \(needed) bytes, though \(room) were removed and \(savedByteCount) saved since"
            violation = Violation(law: .lost, evidence: evidence)
        }
        return (savedCount, violation)
    }

    /// The room that entries of so many bytes take on a disk where each entry is a file.
    private func blocks(_ byteCount: Int) -> Int {
        settings.layout == .files ? (byteCount + 4_095) / 4_096 * 4_096 : byteCount
    }

    /// The most that an entry has beside its value's payload.
    private static let overhead = 1_024
    /// The most that a full disk has beside entries, for instance the headers of segments.
    private static let slack = 1 << 15
}
