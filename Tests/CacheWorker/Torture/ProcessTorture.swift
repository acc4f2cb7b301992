import Foundation
import TypedCache

/// Has several processes work on one cache at once, kills one now and then, and judges every read.
///
/// It goes in rounds. At the end of each, all processes stand still, and must tell the same: every key, and what it
/// has. That is what the next round begins with.
final class ProcessTorture {
    private let settings: TortureSettings
    private let folder: URL
    private var random: SeededGenerator
    private var report = PartReport(part: "processes")
    private var children: [ChildWorker] = []
    private var writerCount = 0
    private var known: [String: ValueIdentity] = [:]
    private var begun: [ValueIdentity: String] = [:]

    private static let keys = (0..<16).map { "k\($0)" }

    init(_ settings: TortureSettings) throws {
        self.settings = settings
        folder = try settings.folder("processes")
        random = SeededGenerator(seed: settings.seed)
    }

    /// Goes on until time is up or something is wrong.
    func run() throws -> PartReport {
        let begin = MonotonicTime.now
        let end = begin.advanced(by: settings.duration)
        report.add(settings.processCount, "processes at once")
        var round = 0
        while MonotonicTime.now < end, report.violations.isEmpty, !settings.isInterrupted() {
            round += 1
            let left = MonotonicTime.now.duration(to: end)
            do {
                if children.isEmpty {
                    // All at once: one of them makes the cache, and the others must not be in its way.
                    for _ in 0..<settings.processCount { children.append(try start()) }
                    for child in children { try child.waitUntilOpened() }
                }
                try run(round, for: min(.seconds(3), max(left, .milliseconds(200))))
            } catch let error as TortureError {
                let violation = Violation(law: .failed, evidence: error.description)
                report.add([violation], "round \(round), seed \(settings.seed)")
            }
            settings.progress(report.prose(since: begin))
        }
        for child in children { try child.end() }
        report.seconds = report.duration(since: begin)
        return report
    }

    private func start() throws -> ChildWorker {
        writerCount += 1
        let log = folder.appending(path: "worker-\(writerCount).log").path
        return try ChildWorker(
            executable: settings.executable,
            WorkerSettings(
                directory: folder.path,
                log: log,
                writer: writerCount,
                seed: random.next(),
                keys: Self.keys
            )
        )
    }

    private func run(_ round: Int, for duration: Duration) throws {
        var history = History(keys: Self.keys, initial: known)
        let begin = MonotonicTime.now
        let end = begin.advanced(by: duration)
        for child in children { try child.run(until: end) }
        // One is killed at some moment of each round, and another takes its place.
        let moment = duration * Double.random(in: 0.2..<0.8, using: &random)
        begin.advanced(by: moment).wait()
        let victim = Int.random(in: 0..<children.count, using: &random)
        let death = children[victim].killed()
        report.add(1, "kills")
        add(try children[victim].newRecords(), children[victim], to: &history, death: death)
        children[victim] = try start()
        try children[victim].waitUntilOpened()
        try children[victim].run(until: end)

        for child in children { try child.waitUntilFinished() }
        MonotonicTime.now.advanced(by: Operation.longestLifetime).wait()
        let disagreements = try agreement()
        for child in children { add(try child.newRecords(), child, to: &history) }
        report.add(history.operationCount, "operations")
        report.add(history.reads.count, "reads judged")
        let found = history.judged { self.begun[$0] == $1 } + disagreements
        report.add(found, "round \(round), seed \(settings.seed)")
    }

    private func add(
        _ records: [LogRecord],
        _ child: ChildWorker,
        to history: inout History,
        death: MonotonicTime? = nil
    ) {
        let writer = child.settings.writer
        history.add(records, writer: writer, death: death)
        for case .begin(let number, .save(let key, _)) in records.map(\.event) {
            begun[ValueIdentity(writer: writer, number: number)] = key
        }
    }

    /// Asks every process for everything while nobody writes.
    private func agreement() throws -> [Violation] {
        var told: [[String: ValueIdentity]] = []
        var violations: [Violation] = []
        for child in children {
            var values: [String: ValueIdentity] = [:]
            for key in Self.keys {
                if case .value(let value) = try child.perform(.fetch(key)) { values[key] = value }
            }
            let listing = (try child.perform(.keys), try child.perform(.count))
            if listing != (.keys(values.keys.sorted()), .count(values.count)) {
                let evidence =
                    "process \(child.settings.writer) fetches \(values.keys.sorted()) and tells \(listing)"
                violations.append(Violation(law: .disagreement, evidence: evidence))
            }
            told.append(values)
        }
        report.add(1, "agreements of all")
        if let first = told.first, told.contains(where: { $0 != first }) {
            violations.append(Violation(law: .disagreement, evidence: "the processes fetch \(told)"))
        }
        known = told.first ?? [:]
        return violations
    }
}
