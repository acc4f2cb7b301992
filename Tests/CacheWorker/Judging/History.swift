/// What all processes did on a cache in a stretch of time, by their logs.
///
/// At the beginning of the stretch nothing was under way, and the state of each key was known.
struct History {
    /// All keys that are used.
    let keys: [String]
    private(set) var writes: [String: [Write]] = [:]
    private(set) var reads: [Read] = []
    /// What is wrong with one record by itself.
    private(set) var violations: [Violation] = []
    private(set) var operationCount = 0
    /// How many saves failed, where that is allowed.
    private(set) var failedSaveCount = 0
    /// How many saves were under way when their process died.
    private(set) var cutSaveCount = 0
    /// The number by the system of the failures that are to be expected of saves; `nil` for none.
    private let expectedFailure: Int32?

    /// - Parameter initial: the values at the beginning; keys that are missing have none.
    init(keys: [String], initial: [String: ValueIdentity] = [:], expectedFailure: Int32? = nil) {
        self.keys = keys
        self.expectedFailure = expectedFailure
        for key in keys { writes[key] = [.initial(initial[key])] }
    }

    /// Adds the log of one process.
    ///
    /// - Parameters:
    ///   - writer: who it is in the identities of its values.
    ///   - death: when the process was certainly dead; `nil` if it did not die with an operation under way.
    mutating func add(_ records: [LogRecord], writer: Int, death: MonotonicTime? = nil) {
        var open: (begin: MonotonicTime, number: Int, operation: Operation)?
        for record in records {
            switch record.event {
            case .begin(let number, let operation):
                open = (record.time, number, operation)
            case .end(let number, let operation, let answer):
                guard let begun = open, begun.number == number, begun.operation == operation else {
                    violations.append(
                        Violation(
                            law: .failed,
                            evidence: "process \(writer) ended what it did not begin: \(record)"
                        )
                    )
                    continue
                }
                open = nil
                operationCount += 1
                add(
                    operation,
                    answer,
                    Span(begun.begin, record.time, "process \(writer), operation \(number): \(operation)"),
                    identity: ValueIdentity(writer: writer, number: number)
                )
            case .damage(let reason):
                violations.append(Violation(law: .failed, evidence: "process \(writer) found damage: \(reason)"))
            }
        }
        if let open {
            let identity = ValueIdentity(writer: writer, number: open.number)
            let span = Span(
                open.begin,
                death ?? .now,
                "process \(writer), operation \(open.number), cut off: \(open.operation)"
            )
            if case .save = open.operation { cutSaveCount += 1 }
            addWrites(of: open.operation, span, identity: identity, isAcknowledged: false)
        }
    }

    private struct Span {
        let begin: MonotonicTime
        let end: MonotonicTime
        let source: String

        init(_ begin: MonotonicTime, _ end: MonotonicTime, _ source: String) {
            self.begin = begin
            self.end = end
            self.source = source
        }
    }

    private mutating func add(_ operation: Operation, _ answer: Answer, _ span: Span, identity: ValueIdentity) {
        switch (operation, answer) {
        case (.fetch(let key), .torn(let reason)):
            violations.append(Violation(law: .torn, evidence: "\(span.source), of \(key): \(reason)"))
        case (.save(let key, _), .failed(let number, _)) where number == expectedFailure:
            // The old value is gone, the new one never was.
            failedSaveCount += 1
            addWrite(nil, to: key, span, isAcknowledged: true)
        case (_, .failed(_, let reason)):
            violations.append(Violation(law: .failed, evidence: "\(span.source): \(reason)"))
            addWrites(of: operation, span, identity: identity, isAcknowledged: false)
        case (.fetch(let key), .value(let value)): addRead(.value(value), of: key, span)
        case (.fetch(let key), .absent), (.contains(let key), .absent): addRead(.absent, of: key, span)
        case (.contains(let key), .present): addRead(.present, of: key, span)
        case (.keys, .keys(let listed)): addListing(listed, span)
        case (.count, .count): break
        case (.save, .done), (.removeAll, .done), (.remove, .absent):
            addWrites(of: operation, span, identity: identity, isAcknowledged: true)
        case (.remove(let key), .present):
            addRead(.entry, of: key, span)
            addWrites(of: operation, span, identity: identity, isAcknowledged: true)
        default:
            violations.append(Violation(law: .failed, evidence: "\(span.source) was answered with \(answer)"))
        }
    }

    private mutating func addWrites(
        of operation: Operation,
        _ span: Span,
        identity: ValueIdentity,
        isAcknowledged: Bool
    ) {
        switch operation {
        case .save(let key, let lifetime):
            addWrite(identity, to: key, span, lifetime: lifetime, isAcknowledged: isAcknowledged)
        case .remove(let key): addWrite(nil, to: key, span, isAcknowledged: isAcknowledged)
        case .removeAll: for key in keys { addWrite(nil, to: key, span, isAcknowledged: isAcknowledged) }
        case .fetch, .contains, .keys, .count: break
        }
    }

    private mutating func addWrite(
        _ value: ValueIdentity?,
        to key: String,
        _ span: Span,
        lifetime: Duration? = nil,
        isAcknowledged: Bool
    ) {
        writes[key, default: []].append(
            Write(
                value: value,
                begin: span.begin,
                end: span.end,
                lifetime: lifetime,
                isAcknowledged: isAcknowledged,
                source: span.source
            )
        )
    }

    private mutating func addRead(_ sight: Read.Sight, of key: String, _ span: Span) {
        reads.append(Read(key: key, begin: span.begin, end: span.end, sight: sight, source: span.source))
    }

    private mutating func addListing(_ listed: [String], _ span: Span) {
        let set = Set(listed)
        for key in keys { addRead(set.contains(key) ? .present : .absent, of: key, span) }
        for key in set.subtracting(keys).sorted() {
            violations.append(Violation(law: .neverWritten, evidence: "\(span.source) listed \(key)"))
        }
        if set.count < listed.count {
            violations.append(Violation(law: .failed, evidence: "\(span.source) listed a key twice: \(listed)"))
        }
    }
}
