extension PackedStore {
    /// Implementation: deflate; then, for about each MiB of archives, one `flock`, `statx` and `pwrite` of the last
    /// segment; then one `fdatasync` for all of them, besides those for segments that are full. Archives that can be in
    /// no batch, and those of a batch that fails, are saved one by one.
    package func save(_ archives: [NewArchive]) -> [Result<EntryInformation?, StoreError>] {
        var appended = AppendedChanges<EntryInformation?>()
        var batch: [NewRecord] = []
        var byteCount = 0
        var mostRecords = mostRecordsOfBatch
        for new in archives {
            let isLong = new.archive.count > RecordBatch.mostBytesOfArchive
            var record: NewRecord?
            var failure: StoreError?
            do throws(StoreError) {
                record = try newRecord(new)
            } catch {
                failure = error
            }
            let isFull = batch.count >= mostRecords
            if isFull || isLong || record == nil || byteCount + new.archive.count > RecordBatch.mostBytes {
                append(&batch, to: &appended)
                byteCount = 0
                if isFull, let log = appended.log { awaitFirstDictionary(of: log) }
                mostRecords = mostRecordsOfBatch
            }
            if let record {
                batch.append(record)
                byteCount += isLong ? RecordBatch.mostBytes : new.archive.count
            } else if let failure {
                appended.add { _ throws(StoreError) in throw failure }
            }
        }
        append(&batch, to: &appended)
        let log = appended.log
        defer { if let log { awaitFirstDictionary(of: log) } }
        return end(&appended)
    }

    /// As many records as come before the log's first dictionary is tried, so that those after them have it.
    private var mostRecordsOfBatch: Int {
        guard let count = current?.dictionaries.recordsBeforeTrial else { return .max }
        return max(1, count)
    }

    /// Waits until upkeep has looked for the log's first dictionary, if that is due: a program that saves many
    /// entries goes on to save most of them with it, while it would save thousands before an entry that no caller
    /// waits for.
    private func awaitFirstDictionary(of log: PackedLog) {
        guard log.dictionaries.isDue else { return }
        keepUp(log)
        finishUpkeep()
    }

    /// Appends records, together if there are several, and empties the batch.
    private func append(_ records: inout [NewRecord], to appended: inout AppendedChanges<EntryInformation?>) {
        var batch = RecordBatch(records)
        records.removeAll(keepingCapacity: true)
        if batch.records.count > 1 {
            bestEffort("the rest of the records are appended one by one, which gives them their errors") {
                () throws(StoreError) in
                // If this log fails, or is replaced, the next one gets the rest.
                try withWritableLog { log throws(StoreError) in
                    appended.synchronize(unlessIn: log)
                    let count = batch.appended.count
                    defer { appended.add(batch.appended[count...], in: log) }
                    try log.saver.append(&batch)
                }
            }
        }
        let rest = batch.rest
        for record in rest {
            appended.add { appended throws(StoreError) in
                try withWritableLog { log throws(StoreError) in
                    appended.synchronize(unlessIn: log)
                    guard let saved = try log.saver.append(record, if: nil) else { return (nil, nil, nil) }
                    return (saved.information, (log, saved.end), nil)
                }
            }
        }
    }

    /// Implementation: as ``save(_:)``.
    package func remove(forKeys keys: [String]) -> [Result<Bool, StoreError>] {
        var appended = AppendedChanges<Bool>()
        for text in keys {
            appended.add { appended throws(StoreError) in
                let (key, digest) = try self.key(text)
                var end: (log: PackedLog, end: RecordPlace)?
                let isRemoved = try withLog { log throws(StoreError) -> Bool? in
                    appended.synchronize(unlessIn: log)
                    let change = try log.remover.remove(key, digest)
                    end = change.end.map { (log, $0) }
                    return change.isRemoved ? true : nil
                }
                return (isRemoved != nil, end, (key, digest))
            }
        }
        return end(&appended)
    }

    private func end<Outcome>(_ appended: inout AppendedChanges<Outcome>) -> [Result<Outcome, StoreError>] {
        let log = appended.log
        appended.synchronize()
        if let log { keepUp(log) }
        return appended.results
    }
}

/// The results of some changes of a log, which are synchronized together.
private struct AppendedChanges<Outcome> {
    fileprivate(set) var results: [Result<Outcome, StoreError>] = []
    /// The log that they were made in.
    fileprivate(set) var log: PackedLog?
    /// Results that may not be on the device yet, each with the place up to which the log must be there.
    fileprivate var waiting: [(index: Int, end: RecordPlace, removal: Removal?)] = []

    typealias Removal = (key: StoreKey, digest: KeyDigest)

    /// Adds the change that `body` makes. `body` returns the outcome, the place up to which the log must be on the device,
    /// `nil` if that need not be, and the key of a removal.
    mutating func add(
        _ body: (inout Self) throws(StoreError) -> (
            outcome: Outcome, end: (log: PackedLog, end: RecordPlace)?, removal: Removal?
        )
    ) {
        do throws(StoreError) {
            let change = try body(&self)
            if let end = change.end {
                log = end.log
                waiting.append((results.count, end.end, change.removal))
            }
            results.append(.success(change.outcome))
        } catch {
            results.append(.failure(error))
        }
    }

    /// Waits for the changes of any other log, and releases that log: if its lock could not be given back, only its
    /// release does so, and this log would wait for the lock for ever.
    mutating func synchronize(unlessIn log: PackedLog) {
        if self.log !== log { synchronize() }
    }

    /// Waits until all changes are on the device, if the store is durable; a change that may not be there fails.
    mutating func synchronize() {
        guard let log = log.take() else { return }
        // The last one first, which waits for all: the others then get the outcome of that.
        for (index, end, removal) in waiting.reversed() {
            do throws(StoreError) {
                try log.commits.synchronize(upTo: end, removing: removal.map { [$0] } ?? [])
            } catch {
                results[index] = .failure(error)
            }
        }
        waiting = []
    }
}

extension AppendedChanges where Outcome == EntryInformation? {
    /// Adds entries that were appended to a log.
    fileprivate mutating func add(_ entries: ArraySlice<EntrySaver.Appended>, in log: PackedLog) {
        if entries.isEmpty { return }
        self.log = log
        for entry in entries {
            waiting.append((results.count, entry.end, nil))
            results.append(.success(entry.information))
        }
    }
}
