extension PackedStore {
    /// Implementation: each archive is appended as by a save, then there is one `fdatasync` for all of them, besides
    /// those for segments that are full.
    package func save(_ archives: [NewArchive]) -> [Result<EntryInformation?, StoreError>] {
        var appended = AppendedChanges<EntryInformation?>()
        for new in archives {
            appended.add { appended throws(StoreError) in
                let record = try newRecord(new)
                return try withWritableLog { log throws(StoreError) in
                    appended.synchronize(unlessIn: log)
                    guard let saved = try log.saver.append(record, if: nil) else { return (nil, nil) }
                    return (saved.information, (log, saved.end))
                }
            }
        }
        return end(&appended)
    }

    /// Implementation: as ``save(_:)``.
    package func remove(forKeys keys: [String]) -> [Result<Bool, StoreError>] {
        var appended = AppendedChanges<Bool>()
        for text in keys {
            appended.add { appended throws(StoreError) in
                let (key, digest) = try self.key(text)
                let end = try withLog { log throws(StoreError) in
                    appended.synchronize(unlessIn: log)
                    return try log.remover.remove(key, digest).map { (log: log, end: $0) }
                }
                return (end != nil, end)
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
    private(set) var results: [Result<Outcome, StoreError>] = []
    /// The log that they were made in.
    private(set) var log: PackedLog?
    /// Results that may not be on the device yet, each with the place up to which the log must be there.
    private var waiting: [(index: Int, end: RecordPlace)] = []

    /// Adds the change that `body` makes. `body` returns the outcome, and the place up to which the log must be on the
    /// device; `nil` if it appended nothing.
    mutating func add(
        _ body: (inout Self) throws(StoreError) -> (outcome: Outcome, end: (log: PackedLog, end: RecordPlace)?)
    ) {
        do throws(StoreError) {
            let change = try body(&self)
            if let end = change.end {
                log = end.log
                waiting.append((results.count, end.end))
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
        for (index, end) in waiting.reversed() {
            do throws(StoreError) {
                try log.commits.synchronize(upTo: end)
            } catch {
                results[index] = .failure(error)
            }
        }
        waiting = []
    }
}
