/// The calls of all processes on a cache whose entries are on a server, from their logs, in a stretch of time.
///
/// The server may lose or evict entries, so a read that finds nothing is never wrong. A change that failed or was cut
/// off may take effect at any later time: bytes on their way outlive their process.
struct SharedHistory {
    /// A save, a removal, a change in one step, or a load, which may save.
    struct Change {
        let key: String
        /// `nil` for a removal.
        let value: ValueIdentity?
        let begin: MonotonicTime
        /// The last moment at which it may have been made.
        let end: MonotonicTime
        let isAcknowledged: Bool
        /// When a call failed that changes entries; `nil` if it did not.
        var failure: MonotonicTime?
        let writer: Int
        let source: String
    }

    struct Read {
        let key: String
        let value: ValueIdentity
        let begin: MonotonicTime
        let end: MonotonicTime
        let reader: Int
        let source: String
    }

    /// A run of a producer.
    struct Production {
        let key: String
        /// When its load began.
        let load: MonotonicTime
        let begin: MonotonicTime
        let end: MonotonicTime
        let writer: Int
    }

    /// Changes in one step that were made, by key and the value that they replaced.
    struct Replaced: Hashable {
        let key: String
        let value: ValueIdentity
    }

    let keys: [String]
    /// Values of earlier times, each with whether it was certainly saved then, if ever.
    let former: [Replaced: Bool]
    private(set) var changes: [String: [Change]] = [:]
    private(set) var reads: [Read] = []
    private(set) var productions: [Production] = []
    private(set) var replacements: [Replaced: [String]] = [:]
    private(set) var violations: [Violation] = []
    private(set) var operationCount = 0
    private(set) var failureCount = 0
    /// When processes died: their leases outlive them.
    private(set) var deaths: [MonotonicTime] = []

    static let forever = MonotonicTime(nanoseconds: .max)

    init(keys: [String], former: [Replaced: Bool] = [:]) {
        self.keys = keys
        self.former = former
    }

    /// Adds the log of one process.
    ///
    /// - Parameter death: when the process was certainly dead; `nil` if it lives.
    mutating func add(_ records: [LogRecord], writer: Int, death: MonotonicTime? = nil) {
        var open: [Operation: (begin: MonotonicTime, number: Int)] = [:]
        var load: MonotonicTime?
        for record in records {
            switch record.event {
            case .begin(let number, let operation):
                open[operation] = (record.time, number)
                if case .load = operation { load = record.time }
            case .end(let number, let operation, let answer):
                guard let begun = open.removeValue(forKey: operation), begun.number == number else { continue }
                if case .produce(let key) = operation {
                    addProduction(of: key, load: load, begin: begun.begin, end: record.time, writer: writer)
                    continue
                }
                operationCount += 1
                let identity = ValueIdentity(writer: writer, number: number)
                add(operation, answer, from: begun.begin, to: record.time, identity: identity)
            case .damage(let reason):
                violations.append(Violation(law: .failed, evidence: "process \(writer) found damage: \(reason)"))
            }
        }
        guard let death else { return }
        deaths.append(death)
        for (operation, begun) in open {
            if case .produce(let key) = operation {
                addProduction(of: key, load: load, begin: begun.begin, end: death, writer: writer)
                continue
            }
            let identity = ValueIdentity(writer: writer, number: begun.number)
            addChanges(of: operation, from: begun.begin, to: Self.forever, isAcknowledged: false, identity)
        }
    }

    private mutating func addProduction(
        of key: String,
        load: MonotonicTime?,
        begin: MonotonicTime,
        end: MonotonicTime,
        writer: Int
    ) {
        productions.append(Production(key: key, load: load ?? begin, begin: begin, end: end, writer: writer))
    }

    private mutating func add(
        _ operation: Operation,
        _ answer: Answer,
        from begin: MonotonicTime,
        to end: MonotonicTime,
        identity: ValueIdentity
    ) {
        let source = "process \(identity.writer), operation \(identity.number): \(operation)"
        func read(_ key: String, _ value: ValueIdentity) {
            reads.append(
                Read(key: key, value: value, begin: begin, end: end, reader: identity.writer, source: source)
            )
        }
        switch (operation, answer) {
        case (.fetch(let key), .value(let value)): read(key, value)
        case (.load(let key), .value(let value)):
            // Its own value need not have been saved.
            if value == identity {
                // For as long as its lease lasts at most, if the answer was lost.
                let last = end.advanced(by: .seconds(10))
                addChanges(of: operation, from: begin, to: last, isAcknowledged: false, identity)
            } else {
                read(key, value)
            }
        case (.fetch, .absent), (.contains, .absent), (.contains, .present), (.keys, .keys): break
        case (.change(let key), .value(let value)):
            replacements[Replaced(key: key, value: value), default: []].append(source)
            addChanges(of: operation, from: begin, to: end, isAcknowledged: true, identity)
        case (.save, .done), (.change, .absent), (.remove, .absent), (.remove, .present), (.removeAll, .done),
            (.removeTagged, .count):
            addChanges(of: operation, from: begin, to: end, isAcknowledged: true, identity)
        case (_, .failed(Answer.unreachable, _)):
            failureCount += 1
            addChanges(of: operation, from: begin, to: Self.forever, isAcknowledged: false, failure: end, identity)
        case (_, .torn(let reason)):
            violations.append(Violation(law: .torn, evidence: "\(source): \(reason)"))
        default:
            violations.append(Violation(law: .failed, evidence: "\(source) was answered with \(answer)"))
        }
    }

    private mutating func addChanges(
        of operation: Operation,
        from begin: MonotonicTime,
        to end: MonotonicTime,
        isAcknowledged: Bool,
        failure: MonotonicTime? = nil,
        _ identity: ValueIdentity
    ) {
        func add(_ key: String, _ value: ValueIdentity?, failure: MonotonicTime?) {
            changes[key, default: []].append(
                Change(
                    key: key,
                    value: value,
                    begin: begin,
                    end: end,
                    isAcknowledged: isAcknowledged,
                    failure: failure,
                    writer: identity.writer,
                    source: "process \(identity.writer), operation \(identity.number): \(operation)"
                )
            )
        }
        switch operation {
        case .save(let key, _): add(key, identity, failure: failure)
        // It may have failed before it changed anything, and a load leaves an existing value.
        case .change(let key), .load(let key): add(key, identity, failure: nil)
        case .remove(let key): add(key, nil, failure: failure)
        case .removeAll: for key in keys { add(key, nil, failure: failure) }
        // The list of entries may have failed.
        case .removeTagged(let tag): for key in keys where Tag.of(key) == tag { add(key, nil, failure: nil) }
        default: break
        }
    }

    /// The values of this stretch, as the next one needs them.
    var values: [Replaced: Bool] {
        var values = former
        for change in changes.values.joined() {
            if let value = change.value {
                values[Replaced(key: change.key, value: value)] = change.end != Self.forever
            }
        }
        return values
    }
}
