/// The operations of all processes on a cache in a stretch of time, from their logs.
///
/// At the beginning of the stretch no operation was under way, and the state of each key was known.
struct History {
    /// All keys that are used.
    let keys: [String]
    private(set) var writes: [String: [Write]] = [:]
    private(set) var reads: [Read] = []
    /// Faults of single records.
    private(set) var violations: [Violation] = []
    private(set) var operationCount = 0
    /// How many saves failed, where that is allowed.
    private(set) var failedSaveCount = 0
    /// How many saves were under way when their process died.
    private(set) var cutSaveCount = 0
    /// How many saves returned before they were certain to be on disk.
    private(set) var deferredSaveCount = 0
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
    ///   - writer: the process's number in the identities of its values.
    ///   - death: when the process was certainly dead; `nil` if it did not die with an operation under way.
    ///   - defers: whether its saves may take effect after they return, and no other process changes its keys.
    mutating func add(_ records: [LogRecord], writer: Int, death: MonotonicTime? = nil, defers: Bool = false) {
        var deferral = defers ? Deferral() : nil
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
                let identity = ValueIdentity(writer: writer, number: number)
                let span = Span(
                    begun.begin,
                    record.time,
                    source: "process \(writer), operation \(number): \(operation)",
                    writer: writer
                )
                if postpone(operation, answer, during: span, identity: identity, in: &deferral) { continue }
                add(operation, answer, during: span, identity: identity)
            case .damage(let reason):
                violations.append(Violation(law: .failed, evidence: "process \(writer) found damage: \(reason)"))
            }
        }
        if let open {
            let identity = ValueIdentity(writer: writer, number: open.number)
            let span = Span(
                open.begin,
                death ?? .now,
                source: "process \(writer), operation \(open.number), cut off: \(open.operation)",
                writer: writer
            )
            if case .save = open.operation { cutSaveCount += 1 }
            addWrites(of: open.operation, span, identity: identity, isAcknowledged: false)
        }
        if let deferral { settle(deferral.waiting.keys, by: death ?? .now, isCertain: false, deferral) }
    }

    private struct Span {
        let begin: MonotonicTime
        let end: MonotonicTime
        let source: String
        let writer: Int

        init(_ begin: MonotonicTime, _ end: MonotonicTime, source: String, writer: Int) {
            self.begin = begin
            self.end = end
            self.source = source
            self.writer = writer
        }
    }

    // MARK: Deferred saves

    /// The state of a process whose saves take effect after they return.
    private struct Deferral {
        /// Its saves that may not be on disk yet, as indices of ``writes``.
        var waiting: [String: [Int]] = [:]
        /// Its own view of the keys that it has changed: it must see its changes at once.
        var own: [String: ValueIdentity?] = [:]
    }

    /// Takes an operation of a process that defers its saves.
    ///
    /// - Returns: whether nothing else is to be done for it.
    private mutating func postpone(
        _ operation: Operation,
        _ answer: Answer,
        during span: Span,
        identity: ValueIdentity,
        in deferral: inout Deferral?
    ) -> Bool {
        guard var state = deferral else { return false }
        defer { deferral = state }
        func expect(_ key: String, _ isRight: (ValueIdentity?) -> Bool) -> Bool {
            guard let own = state.own[key] else { return false }
            if !isRight(own) {
                let evidence =
                    "\(span.source) was answered with \(answer), after it had \(own.map { "saved \($0)" } ?? "removed it")"
                violations.append(Violation(law: own == nil ? .phantom : .lost, evidence: evidence))
            }
            return true
        }
        switch (operation, answer) {
        case (.save(let key, nil), .done):
            deferredSaveCount += 1
            state.waiting[key, default: []].append(writes[key, default: []].count)
            state.own[key] = .some(identity)
            addWrites(of: operation, span, identity: identity, isAcknowledged: false)
            return true
        case (.fetch(let key), .value(let value)): return expect(key) { $0 == value }
        case (.fetch(let key), .absent), (.contains(let key), .absent): return expect(key) { $0 == nil }
        case (.contains(let key), .present): return expect(key) { $0 != nil }
        case (.remove(let key), .present), (.remove(let key), .absent):
            settle([key], by: span.end, isCertain: true, state)
            state.waiting[key] = nil
            let isKnown = expect(key) { ($0 != nil) == (answer == .present) }
            state.own[key] = .some(nil)
            guard isKnown else { return false }
            addWrites(of: operation, span, identity: identity, isAcknowledged: true)
            return true
        case (.flush, .done), (.keys, .keys), (.count, .count):
            settle(state.waiting.keys, by: span.end, isCertain: true, state)
            state.waiting = [:]
            return false
        default: return false
        }
    }

    /// Notes by when deferred saves have taken effect, or may have.
    private mutating func settle(
        _ keys: some Sequence<String>,
        by end: MonotonicTime,
        isCertain: Bool,
        _ deferral: Deferral
    ) {
        for key in keys {
            for index in deferral.waiting[key] ?? [] {
                writes[key]?[index].end = end
                writes[key]?[index].isAcknowledged = isCertain
            }
        }
    }

    // MARK: Operations

    private mutating func add(_ operation: Operation, _ answer: Answer, during span: Span, identity: ValueIdentity)
    {
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
        case (.count, .count), (.flush, .done), (.trim, .count): break
        case (.save, .done), (.removeAll, .done), (.removeTagged, .count), (.remove, .absent):
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
        case .removeTagged(let tag):
            for key in keys where Tag.of(key) == tag {
                addWrite(nil, to: key, span, isAcknowledged: isAcknowledged)
            }
        case .fetch, .load, .contains, .keys, .count, .flush, .increment, .change, .produce, .trim: break
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
                writer: span.writer,
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
