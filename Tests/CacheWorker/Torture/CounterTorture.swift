import Foundation
import TypedCache

/// Has several processes increment the same numbers at once, kills one now and then, and sees that each increment
/// counts, once.
final class CounterTorture {
    private let settings: TortureSettings
    private let crowd: Crowd
    private var report = PartReport(part: "counters")
    private var known: [String: Int] = [:]

    private static let keys = (0..<3).map { "n\($0)" }

    init(_ settings: TortureSettings) throws {
        self.settings = settings
        crowd = Crowd(settings, folder: try settings.folder("counters"), seed: settings.seed) { worker, place in
            worker.keys = Self.keys
            worker.mix = .counting
            // Some read from memory, which must not be behind.
            worker.usesMemory = place % 2 == 1
            worker.followsOthers = worker.usesMemory
        }
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
                if crowd.children.isEmpty { try crowd.start() }
                try run(round, for: min(.seconds(1), max(left, .milliseconds(200))))
            } catch let error as TortureError {
                let violation = Violation(law: .failed, evidence: error.description)
                report.add([violation], "round \(round), seed \(settings.seed)")
            }
            settings.progress(report.prose(since: begin))
        }
        try crowd.end()
        report.seconds = report.duration(since: begin)
        return report
    }

    private func run(_ round: Int, for duration: Duration) throws {
        var judges = Self.keys.map { CounterJudge(key: $0, first: known[$0] ?? 0) }
        func add(_ records: [LogRecord], _ child: ChildWorker) {
            for index in judges.indices { judges[index].add(records, writer: child.settings.writer) }
        }
        try crowd.run(for: duration) { child, records, _ in
            report.add(1, "kills")
            add(records, child)
        }
        let (told, violations) = try crowd.told(Self.keys)
        known = (told.first ?? [:]).mapValues(\.number)
        for (child, records) in try crowd.newRecords() { add(records, child) }
        report.add(judges.map(\.acknowledgedCount).reduce(0, +), "increments")
        report.add(judges.map(\.cutCount).reduce(0, +), "of them cut off")
        report.add(judges.map(\.readCount).reduce(0, +), "numbers judged")
        let found = judges.flatMap { $0.judged(last: known[$0.key] ?? 0) } + violations
        report.add(found, "round \(round), seed \(settings.seed)")
    }
}
