import Foundation
import TypedCache

/// Has several processes increment the same numbers at once, kills one now and then, and sees that each increment
/// counts, once.
final class CounterTorture {
    private let crowd: Crowd
    private var known: [String: Int] = [:]

    private static let keys = (0..<3).map { "n\($0)" }

    init(_ settings: TortureSettings) throws {
        crowd = Crowd(settings, folder: try settings.folder("counters"), seed: settings.seed) { worker, place in
            worker.keys = Self.keys
            worker.mix = .counting
            // Some read from memory, which must not be outdated.
            worker.usesMemory = place % 2 == 1
            worker.followsOthers = worker.usesMemory
        }
    }

    /// Goes on until time is up or something is wrong.
    func run() throws -> PartReport {
        try crowd.run("counters", inRoundsOf: .seconds(1)) { _, duration, report in
            try run(for: duration, report: &report)
        }
    }

    private func run(for duration: Duration, report: inout PartReport) throws -> [Violation] {
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
        return judges.flatMap { $0.judged(last: known[$0.key] ?? 0) } + violations
    }
}
