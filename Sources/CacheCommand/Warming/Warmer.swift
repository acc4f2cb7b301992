/// Takes records from a source, finds their keys, and saves them.
struct Warmer {
    let keyField: String
    /// How many records to save at most.
    let limit: Int
    let saver: BatchSaver
    let interruption: any Interruption
    /// The time since some moment in the past.
    let now: () -> Duration

    init(
        _ options: WarmOptions,
        sink: any RecordSink,
        interruption: any Interruption,
        now: @escaping () -> Duration
    ) {
        keyField = options.keyField
        limit = options.limit ?? .max
        saver = BatchSaver(
            fields: options.fields,
            resumes: options.resumes,
            sink: sink,
            interruption: interruption
        )
        self.interruption = interruption
        self.now = now
    }

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
            while failure == nil, summary.saved < limit, interruption.signal == nil {
                let batch = batch(from: &source, atMost: limit - summary.saved, observer: &observer)
                for (item, result) in zip(batch.items, saver.save(batch.items)) {
                    guard let result else { continue }
                    summary.read += 1
                    if case .failed(let error) = result {
                        // Others may have been saved meanwhile.
                        failure = failure ?? error
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

    /// How many records are read at most before they are saved.
    private static let mostItems = 256

    /// The records that can be read without waiting, but one at least unless the source is at its end or fails.
    private func batch(
        from source: inout some RecordSource,
        atMost limit: Int,
        observer: inout some WarmObserver
    ) -> (items: [BatchSaver.Item], failure: (any Error)?) {
        var items: [BatchSaver.Item] = []
        let limit = saver.sink.threadCount > 1 ? min(limit, Self.mostItems) : 1
        do {
            while items.count < limit {
                var outcome = try source.next(reads: false)
                if outcome == nil, items.isEmpty {
                    try observer.waiting()
                    outcome = try source.next(reads: true)
                }
                guard let outcome else { break }
                items.append(
                    BatchSaver.Item(
                        content: content(of: outcome),
                        isText: source.valuesAreText,
                        bytesConsumed: source.bytesConsumed
                    )
                )
            }
            return (items, nil)
        } catch {
            return (items, error)
        }
    }

    private func content(of outcome: RecordOutcome) -> BatchSaver.Item.Content {
        switch outcome {
        case .bad(let badRecord): return .bad(badRecord)
        case .record(let record, let line):
            do throws(BadRecordReason) {
                return .record(record, key: try RecordKey(field: keyField).key(of: record), line: line)
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
