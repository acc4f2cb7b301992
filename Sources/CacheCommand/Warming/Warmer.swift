/// Takes records from a source, finds their keys, and saves them.
struct Warmer {
    let keyField: String
    /// `nil` takes every field as it is.
    let fields: FieldList?
    /// How many records to save at most.
    let limit: Int
    /// Whether keys that have an entry are left alone.
    let resumes: Bool
    let sink: any RecordSink
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
        fields = options.fields
        limit = options.limit ?? .max
        resumes = options.resumes
        self.sink = sink
        self.interruption = interruption
        self.now = now
    }

    /// Saves what `source` gives until it ends, the limit is reached, a signal comes or something fails.
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
            while summary.saved < limit, interruption.signal == nil, let outcome = try source.next() {
                summary.read += 1
                try take(outcome, isText: source.valuesAreText, into: &summary, observer: &observer)
                let progress = Progress(
                    records: summary.read,
                    bytes: source.bytesConsumed,
                    size: size,
                    elapsed: now() - start
                )
                try observer.advanced(progress)
            }
        } catch SourceError.interrupted {
            // The signal says it all.
        } catch {
            failure = error
        }
        summary.signal = interruption.signal
        summary.elapsed = now() - start
        return WarmResult(summary: summary, failure: failure)
    }

    private func take(
        _ outcome: RecordOutcome,
        isText: Bool,
        into summary: inout WarmSummary,
        observer: inout some WarmObserver
    ) throws {
        switch outcome {
        case .bad(let badRecord):
            summary.invalid += 1
            observer.skipped(badRecord)
        case .record(let record, let line):
            do {
                let key = try RecordKey(field: keyField).key(of: record)
                if resumes, try sink.contains(key) {
                    summary.present += 1
                    return
                }
                let selected = try fields?.select(from: record, isText: isText) ?? record
                try sink.save(selected, forKey: key)
                summary.saved += 1
                try observer.saved(key)
            } catch let reason as BadRecordReason {
                summary.invalid += 1
                observer.skipped(BadRecord(line: line, reason: reason))
            } catch let rejection as RejectedRecord {
                summary.invalid += 1
                observer.skipped(BadRecord(line: line, reason: .rejected(rejection.reason)))
            }
        }
    }
}
