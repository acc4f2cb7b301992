import Foundation
import TestSupport
import TypedCache

/// Kills one process after another in the middle of its work, and judges the cache after each kill.
///
/// At the same time another cache on the directory, opened in this process for the whole run, does work of its own.
final class KillTorture {
    private let settings: TortureSettings
    private let folder: URL
    private var random: SeededGenerator
    private var report = PartReport(part: "kills")
    private let companion: Worker
    private let companionLog: LogReader
    /// The value of each key after the last judgement.
    private var known: [String: ValueIdentity] = [:]
    /// Which key each value was saved for.
    private var begun: [ValueIdentity: String] = [:]

    /// The name of the figure of kills that hit a save.
    static let cutSaves = "of them in the middle of a save"

    private static let name = "torture"
    private static let workerKeys = (0..<24).map { "k\($0)" }
    private static let companionKeys = (0..<4).map { "c\($0)" }
    /// Saved whenever a cache is opened again, to make it write.
    private static let openingKey = "opening"
    private static let keys = workerKeys + companionKeys + [openingKey]

    init(_ settings: TortureSettings) throws {
        self.settings = settings
        folder = try settings.folder("kills")
        random = SeededGenerator(seed: settings.seed)
        var own = Self.settings(in: folder, writer: 0, "companion", seed: settings.seed, keys: Self.companionKeys)
        own.layout = settings.layout
        companion = try Worker(own)
        companionLog = LogReader(path: own.log)
        // Its session of drafts lives from here on.
        companion.perform(.save(Self.companionKeys[0]))
    }

    private static func settings(
        in folder: URL,
        writer: Int,
        _ log: String,
        seed: UInt64,
        keys: [String],
        usesMemory: Bool = false
    ) -> WorkerSettings {
        WorkerSettings(
            directory: folder.path,
            name: name,
            log: folder.appending(path: "\(log).log").path,
            writer: writer,
            seed: seed,
            keys: keys,
            usesMemory: usesMemory
        )
    }

    /// Goes on until time is up, enough were killed, or something is wrong.
    func run() throws -> PartReport {
        let begin = MonotonicTime.now
        let end = begin.advanced(by: settings.duration)
        var nextProgress = begin
        var round = 0
        while MonotonicTime.now < end, round < settings.kills, report.violations.isEmpty, !settings.isInterrupted()
        {
            round += 1
            do {
                try kill(round)
            } catch let error as TortureError {
                let violation = Violation(law: .failed, evidence: error.description)
                report.add([violation], "round \(round), seed \(settings.seed)")
            }
            if nextProgress < .now {
                settings.progress(report.prose(since: begin))
                nextProgress = MonotonicTime.now.advanced(by: .seconds(5))
            }
        }
        report.seconds = report.duration(since: begin)
        return report
    }

    private func kill(_ round: Int) throws {
        // Two writers a round: the process that is killed, and the process that then reads the cache.
        var own = Self.settings(
            in: folder,
            writer: round * 2,
            "worker-\(round)",
            seed: random.next(),
            keys: Self.workerKeys,
            usesMemory: Bool.random(using: &random)
        )
        own.layout = settings.layout
        let child = try ChildWorker(executable: settings.executable, own)
        let started = MonotonicTime.now
        try child.run(until: MonotonicTime(nanoseconds: .max))
        // Some die before they have opened the cache, or while they do.
        let isEarly = Int.random(in: 0..<8, using: &random) == 0
        if !isEarly { try child.waitUntilOpened() }
        let delay = Duration.microseconds(Int64.random(in: 0..<20_000, using: &random))
        let moment = (isEarly ? started : .now).advanced(by: delay)
        if Bool.random(using: &random) {
            // The victim may keep values in memory, which do not notice removals by other processes.
            repeat { companion.step(sparesOthers: true) } while MonotonicTime.now < moment
        } else {
            moment.wait()
        }
        let death = child.killed()
        report.add(1, "kills")
        death.advanced(by: OperationMix.longestLifetime).wait()
        guard child.wasKilled else { throw TortureError("process \(own.writer) ended by itself: see \(own.log)") }
        let found = try judge(child, death: death, round: round)
        report.add(found, "round \(round), seed \(settings.seed)")
        if found.isEmpty { try? FileManager.default.removeItem(atPath: own.log) }
    }

    /// The violations after a kill.
    private func judge(_ child: ChildWorker, death: MonotonicTime, round: Int) throws -> [Violation] {
        var history = History(keys: Self.keys, initial: known)
        let records = try child.newRecords()
        history.add(records, writer: child.settings.writer, death: death)
        let companions = try companionLog.newRecords()
        history.add(companions, writer: companion.writer)

        report.add(history.cutSaveCount, Self.cutSaves)
        let left = try DraftListing(cache: folder.appending(path: Self.name))
        report.add(left.drafts.count, "drafts left and cleaned")
        let drafts = try lookAnew(round, into: &history, left)

        note(records, writer: child.settings.writer)
        note(companions, writer: companion.writer)
        report.add(history.operationCount, "operations")
        report.add(history.reads.count, "reads judged")
        return history.judged { self.begun[$0] == $1 } + drafts
    }

    /// Opens the cache again, reads every key, then writes, and checks that drafts of dead processes are gone.
    private func lookAnew(_ round: Int, into history: inout History, _ left: DraftListing) throws -> [Violation] {
        var own = Self.settings(in: folder, writer: round * 2 + 1, "look-\(round)", seed: 1, keys: Self.keys)
        own.layout = settings.layout
        let log = LogReader(path: own.log)
        var violations: [Violation] = []
        do {
            let worker = try Worker(own)
            var present: [String] = []
            for key in Self.keys {
                let answer = worker.perform(.fetch(key))
                known[key] = nil
                if case .value(let value) = answer {
                    known[key] = value
                    present.append(key)
                }
            }
            let listing = (worker.perform(.keys), worker.perform(.count))
            if listing != (.keys(present.sorted()), .count(present.count)) {
                let evidence = "\(present.sorted()) were fetched, \(listing) told"
                violations.append(Violation(law: .disagreement, evidence: evidence))
            }
            if case .done = worker.perform(.save(Self.openingKey)),
                case .value(let value) = worker.perform(.fetch(Self.openingKey))
            {
                known[Self.openingKey] = value
            }
        }
        let records = try log.newRecords()
        history.add(records, writer: own.writer)
        note(records, writer: own.writer)
        try? FileManager.default.removeItem(atPath: own.log)

        // The worker is gone by now, or does its last work, so that at most the companion's session is alive. A process
        // that appends to a segment needs no session, and leaves the files of dead sessions to one that has a session.
        var now = try DraftListing(cache: folder.appending(path: Self.name))
        func isTidy() -> Bool {
            settings.layout == .files ? now.drafts.isEmpty && now.locks.count == 1 : now.locks.count <= 2
        }
        for _ in 0..<100 where !isTidy() {
            usleep(10_000)
            now = try DraftListing(cache: folder.appending(path: Self.name))
        }
        if !isTidy() {
            let evidence = "of \(left.drafts + left.locks) the next opening left \(now.drafts + now.locks)"
            violations.append(Violation(law: .drafts, evidence: evidence))
        }
        return violations
    }

    private func note(_ records: [LogRecord], writer: Int) {
        for case .begin(let number, .save(let key, _)) in records.map(\.event) {
            begun[ValueIdentity(writer: writer, number: number)] = key
        }
    }
}

extension PartReport {
    func duration(since begin: MonotonicTime) -> Double { begin.duration(to: .now) / .seconds(1) }

    /// The report so far.
    func prose(since begin: MonotonicTime) -> String {
        var report = self
        report.seconds = duration(since: begin)
        return report.prose
    }
}
