/// Takes records from a source, finds their keys, and saves them.
struct Warmer {
    let key: RecordKey
    /// How many records to save at most.
    let limit: Int
    let saver: BatchSaver
    /// The time since some moment in the past.
    let now: () -> Duration

    private var interruption: any Interruption { saver.interruption }

    /// Saves the records of `source` until it ends, the limit is reached, a signal comes or something fails.
    ///
    /// - Parameter size: how many bytes the source has, if that is known.
    func run(
        _ source: inout some RecordSource,
        size: Int?,
        observer: inout some WarmObserver
    ) -> WarmResult {
        let start = now()
        var summary = WarmSummary()
        var failure: (any Error)?
        do {
            // The bytes of a file are there, while those of a pipe may take long to come.
            let readsAhead = size != nil
            // Read while the batch before it was saved.
            var next: Batch?
            while failure == nil, summary.saved < limit, interruption.signal == nil {
                var batch =
                    next.take() ?? self.batch(from: &source, atMost: limit - summary.saved, reads: readsAhead)
                if batch.items.isEmpty, batch.failure == nil {
                    try observer.waiting()
                    batch = self.batch(from: &source, atMost: limit - summary.saved, reads: readsAhead, waits: true)
                }
                let results: [BatchSaver.ItemResult?]
                if saver.sink.threadCount > 1, batch.items.count > 1 {
                    let saving = saver.startSaving(batch.items)
                    let rest = limit - summary.saved - batch.items.count
                    if rest > 0, batch.failure == nil {
                        next = self.batch(from: &source, atMost: rest, reads: readsAhead)
                    }
                    results = saving.wait()
                } else {
                    results = saver.save(batch.items)
                }
                for (item, result) in zip(batch.items, results) {
                    guard let result else { continue }
                    summary.read += 1
                    if case .failed(let error) = result {
                        // Others may have been saved in the meantime.
                        failure = failure ?? error
                        summary.failed += 1
                        continue
                    }
                    try report(result, into: &summary, observer: &observer)
                    let progress = Progress(
                        records: summary.read,
                        bytes: item.bytesConsumed,
                        size: size,
                        elapsed: now() - start
                    )
                    try observer.advanced(progress)
                }
                if let failure = batch.failure { throw failure }
                if batch.items.isEmpty { break }
            }
        } catch SourceError.interrupted {
            // No failure: the summary has the signal.
        } catch {
            failure = failure ?? error
        }
        summary.signal = interruption.signal
        summary.elapsed = now() - start
        return WarmResult(summary: summary, failure: failure)
    }

    /// How many records are read before they are saved, or more if the sink saves more at once.
    private static let mostItems = 512
    /// The length of the records, in bytes of the source, from which on no more are read before they are saved.
    private static let enoughBytes = 1 << 20

    /// Records that were read, and the failure of the source after them.
    private struct Batch {
        var items: [BatchSaver.Item] = []
        var failure: (any Error)?
    }

    /// The next records of a source.
    ///
    /// - Parameters:
    ///   - reads: whether the input may be read; else there are only records whose bytes are there.
    ///   - waits: whether the input may be read for the first record in any case.
    private func batch(
        from source: inout some RecordSource,
        atMost limit: Int,
        reads: Bool,
        waits: Bool = false
    ) -> Batch {
        var batch = Batch()
        let most = max(Self.mostItems, saver.sink.threadCount * saver.sink.recordsAtOnce)
        let limit = saver.sink.threadCount > 1 ? min(limit, most) : 1
        let start = source.bytesConsumed
        do {
            while batch.items.count < limit, source.bytesConsumed - start < Self.enoughBytes {
                let mayWait = reads || waits && batch.items.isEmpty
                guard let outcome = try source.next(reads: mayWait) else { break }
                batch.items.append(
                    BatchSaver.Item(
                        content: content(of: outcome),
                        isText: source.valuesAreText,
                        bytesConsumed: source.bytesConsumed
                    )
                )
            }
        } catch {
            batch.failure = error
        }
        return batch
    }

    private func content(of outcome: RecordOutcome) -> BatchSaver.Item.Content {
        switch outcome {
        case .bad(let badRecord): return .bad(badRecord)
        case .record(let record, let line):
            do throws(BadRecordReason) {
                return .record(KeyedRecord(key: try key.key(of: record), record: record), line: line)
            } catch {
                return .bad(BadRecord(line: line, reason: error))
            }
        }
    }

    private func report(
        _ result: BatchSaver.ItemResult,
        into summary: inout WarmSummary,
        observer: inout some WarmObserver
    ) throws {
        switch result {
        case .saved(let key):
            summary.saved += 1
            try observer.saved(key)
        case .present: summary.present += 1
        case .bad(let badRecord):
            summary.invalid += 1
            observer.skipped(badRecord)
        case .failed: break
        }
    }
}

/// Receives events while a cache is warmed.
protocol WarmObserver {
    /// `key` has been saved.
    mutating func saved(_ key: String) throws(OutputError)

    /// A record had to be skipped.
    mutating func skipped(_ badRecord: BadRecord)

    /// All records so far have been reported, and the next one may take long to come.
    mutating func waiting() throws(OutputError)

    /// One more record has been dealt with.
    mutating func advanced(_ progress: Progress) throws(OutputError)
}

/// The summary of warming a cache, and the failure if one ended it; the end of the source, the limit and a signal are
/// no failures.
struct WarmResult {
    let summary: WarmSummary
    let failure: (any Error)?
}

/// The counts of warming a cache.
struct WarmSummary: Sendable, Equatable {
    /// Records read: saved, invalid, failed, and present before.
    var read = 0
    var saved = 0
    /// Records that were left alone, for their keys had entries.
    var present = 0
    var invalid = 0
    /// Records that could not be saved.
    var failed = 0
    /// Entries evicted for the limit, older ones included.
    var evicted = 0
    var elapsed = Duration.zero
    /// The signal that ended it early, if one did.
    var signal: Int32?

    /// Records read per second.
    var rate: Double {
        elapsed > .zero ? Double(read) / elapsed.inSeconds : 0
    }

    /// For people, in one line.
    func prose(isDryRun: Bool) -> String {
        let counts =
            "\(CountText(read, "record", plural: "records")) read, \(CountText(saved)) \(isDryRun ? "valid" : "saved"), "
            + (present > 0 ? "\(CountText(present)) there already, " : "") + "\(CountText(invalid)) invalid"
            + (failed > 0 ? ", \(CountText(failed)) failed" : "")
            + (evicted > 0 ? ", \(CountText(evicted)) evicted for the limit" : "")
        let time = "\(DecimalText(elapsed.inSeconds, fractionDigits: 2)) s (\(CountText(Int(rate)))/s)"
        return "\(counts), in \(time)\(signal == nil ? "" : ", interrupted")"
    }

    /// For programs.
    func json(isDryRun: Bool) -> Record {
        var record: Record = ["read": .count(read), "saved": .count(isDryRun ? 0 : saved)]
        if isDryRun { record.fields.append(RecordField(name: "valid", value: .count(saved))) }
        let rest: Record = [
            "present": .count(present),
            "invalid": .count(invalid),
            "failed": .count(failed),
            "evicted": .count(evicted),
            "seconds": .seconds(elapsed),
            "recordsPerSecond": .double(rate.rounded()),
            "interrupted": .bool(signal != nil),
        ]
        record.fields += rest.fields
        return record
    }
}

/// Reads the key of a record from one of its fields.
struct RecordKey {
    /// The longest key that a cache takes, in UTF-8 bytes.
    static let longest = 1_024

    let field: String
    private let isASCII: Bool

    init(field: String) {
        self.field = field
        isASCII = field.utf8.allSatisfy { $0 < 0x80 }
    }

    /// The key of `record`: a string as it is, a whole number in decimal.
    func key(of record: SourceRecord) throws(BadRecordReason) -> String {
        let key =
            switch record {
            case .fields(let record): try text(in: record)
            case .parsed(let parsed): try text(in: parsed)
            }
        let count = key.utf8.count
        guard count > 0 else { throw .emptyKey(field: field) }
        guard count <= Self.longest else { throw .longKey(field: field, bytes: count, limit: Self.longest) }
        return key
    }

    private func text(in record: Record) throws(BadRecordReason) -> String {
        switch record[field] {
        case .string(let text): return text
        case .int(let number): return String(number)
        case .uint(let number): return String(number)
        case nil: throw .missingKey(field: field)
        case let other?: throw .unfitKey(field: field, found: RecordKind(other))
        }
    }

    private func text(in record: ParsedRecord) throws(BadRecordReason) -> String {
        guard let item = record.value(named: field, isASCII: isASCII) else { throw .missingKey(field: field) }
        switch item.kind {
        case .string: return record.string(item)
        case .integer: return String(Int64(bitPattern: item.content))
        case .unsigned: return String(item.content)
        case .null, .bool, .real, .array, .object: throw .unfitKey(field: field, found: RecordKind(item))
        }
    }
}
