import Foundation

extension PackedStore {
    /// Implementation: deflate; then, while the directory is locked (`flock`), `statx` and `pwrite` of the last
    /// segment.
    @discardableResult
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let new = NewArchive(key: key, archive: archive, attributes: attributes)
        return try save(newRecord(new), if: condition)
    }

    /// The record to append for an archive.
    ///
    /// - Throws: `.invalidArgument`, `.tooLarge`.
    func newRecord(_ new: NewArchive) throws(StoreError) -> NewRecord {
        let (key, digest) = try self.key(new.key)
        guard new.archive.count <= archiveByteLimit else {
            throw StoreError.tooLarge(new.archive.count, limit: archiveByteLimit)
        }
        return NewRecord(key: key, digest: digest, attributes: new.attributes, content: .archive(new.archive))
    }

    /// Implementation: a save of the same archive.
    package func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        guard date?.timeIntervalSinceReferenceDate.isNaN != true else {
            throw StoreError(.invalidArgument, action: "moving a deadline", reason: "a date is not a number")
        }
        guard let stored = try fetch(forKey: entry.key), stored.information.identity == entry.identity else {
            return nil
        }
        var attributes = stored.information.attributes
        attributes.expiresAt = date
        return try save(stored.archive, forKey: entry.key, attributes: attributes) {
            $0?.identity == entry.identity
        }
    }

    /// Appends a record, and waits until it is on the device, if the store is durable.
    func save(
        _ new: NewRecord,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        try withWritableLog { log throws(StoreError) in
            guard let appended = try log.saver.append(new, if: condition) else { return nil }
            try log.commits.synchronize(upTo: appended.end)
            keepUp(log)
            return appended.information
        }
    }
}
