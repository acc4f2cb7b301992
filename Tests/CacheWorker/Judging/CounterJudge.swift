/// Judges the increments of one number by several processes.
///
/// Each acknowledged increment gave a number of its own, higher than every one that was acknowledged before it began;
/// and in the end the number is as high as there were acknowledged increments, plus at most one for each that was cut
/// off when its process died.
struct CounterJudge {
    private struct Sight {
        let begin: MonotonicTime
        let end: MonotonicTime
        let count: Int
        let source: String
    }

    let key: String
    private let first: Int
    private var increments: [Sight] = []
    private var fetches: [Sight] = []
    private(set) var cutCount = 0
    private(set) var violations: [Violation] = []

    init(key: String, first: Int) {
        self.key = key
        self.first = first
    }

    var acknowledgedCount: Int { increments.count }
    var readCount: Int { fetches.count + increments.count }

    mutating func add(_ records: [LogRecord], writer: Int) {
        var open: (begin: MonotonicTime, operation: Operation)?
        for record in records {
            switch record.event {
            case .begin(_, let operation): open = (record.time, operation)
            case .end(let number, let operation, let answer):
                guard let begun = open?.begin else { continue }
                open = nil
                let source = "process \(writer), operation \(number): \(operation)"
                switch (operation, answer) {
                case (.increment(key), .count(let count)):
                    increments.append(Sight(begin: begun, end: record.time, count: count, source: source))
                case (.fetch(key), .value(let value)):
                    fetches.append(Sight(begin: begun, end: record.time, count: value.number, source: source))
                case (.fetch(key), .absent):
                    fetches.append(Sight(begin: begun, end: record.time, count: 0, source: source))
                case (.increment(key), _), (.fetch(key), _):
                    violations.append(Violation(law: .failed, evidence: "\(source) was answered with \(answer)"))
                default: break
                }
            case .damage(let reason):
                violations.append(Violation(law: .failed, evidence: "process \(writer) found damage: \(reason)"))
            }
        }
        if case .increment(key) = open?.operation { cutCount += 1 }
    }

    /// All that is wrong, if the number was `last` in the end.
    func judged(last: Int) -> [Violation] {
        var found = violations
        func report(_ evidence: String) {
            found.append(Violation(law: .miscounted, evidence: "of \(key): \(evidence)"))
        }
        let done = last - first
        if done < acknowledgedCount || done > acknowledgedCount + cutCount {
            report("\(acknowledgedCount) increments of \(first), and \(cutCount) cut off, gave \(last)")
        }
        for (count, same) in Dictionary(grouping: increments, by: \.count) where same.count > 1 {
            report("\(count) was given \(same.count) times: \(same.map(\.source))")
        }
        // In the order of time, with the highest number that was certainly reached.
        let sights = increments.map { ($0, true) } + fetches.map { ($0, false) }
        let ended = sights.map(\.0).sorted { $0.end < $1.end }
        var reached = (count: first, source: "the state at first")
        var next = ended.startIndex
        for (sight, isIncrement) in sights.sorted(by: { $0.0.begin < $1.0.begin }) {
            while next < ended.endIndex, ended[next].end < sight.begin {
                if ended[next].count > reached.count { reached = (ended[next].count, ended[next].source) }
                next += 1
            }
            if sight.count < reached.count + (isIncrement ? 1 : 0) {
                report("\(sight.source) gave \(sight.count) after \(reached.count), \(reached.source)")
            }
            if sight.count > last {
                report("\(sight.source) gave \(sight.count), and in the end there are \(last)")
            }
        }
        return found
    }
}
