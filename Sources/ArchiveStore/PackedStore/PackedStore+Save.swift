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
        guard new.archive.count <= maximumArchiveByteCount else {
            throw StoreError.tooLarge(new.archive.count, limit: maximumArchiveByteCount)
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
        try writing { log throws(StoreError) in
            guard let appended = try append(new, if: condition, in: log) else { return nil }
            try log.synchronize(upTo: appended.end)
            keepUp(log)
            return appended.information
        }
    }

    /// An entry that has its place in a log, but may not be on the device yet.
    struct Appended {
        let information: EntryInformation
        let log: PackedLog
        /// The place up to which the log must be on the device.
        let end: RecordPlace
    }

    /// Appends a record.
    ///
    /// - Returns: `nil` if the condition said no.
    func append(
        _ new: NewRecord,
        if condition: ((EntryInformation?) -> Bool)?,
        in log: PackedLog
    ) throws(StoreError) -> Appended? {
        let now = new.attributes.storedAt.timeIntervalSinceReferenceDate
        var isRetry = false
        while true {
            // The third time there is another dictionary again: one without is good in any segment.
            let dictionary = log.dictionary
            var draft = try new.draft(dictionary, settings.compression)
            try checkFits(draft.byteCount, in: log)
            var departed = Departed()
            defer { tell(departed) }
            let result = try withRoom(for: draft.byteCount, new.digest, now: now, in: log, &departed) {
                writer,
                departed throws(StoreError) -> SaveResult in
                try append(&draft, new, dictionary, condition, in: log, &writer, &departed)
            }
            switch result {
            case .saved(let information, let end): return Appended(information: information, log: log, end: end)
            case .refused: return nil
            case .otherDictionary where isRetry: throw log.stale()
            case .otherDictionary: isRetry = true
            }
        }
    }

    private enum SaveResult {
        case saved(EntryInformation, end: RecordPlace)
        /// The condition said no.
        case refused
        /// The segment has another dictionary than the record.
        case otherDictionary
    }

    private func append(
        _ draft: inout RecordDraft,
        _ new: NewRecord,
        _ dictionary: PresetDictionary?,
        _ condition: ((EntryInformation?) -> Bool)?,
        in log: PackedLog,
        _ writer: inout PackedLog.Writer,
        _ departed: inout Departed
    ) throws(StoreError) -> SaveResult {
        let (key, digest, attributes) = (new.key, new.digest, new.attributes)
        let now = attributes.storedAt.timeIntervalSinceReferenceDate
        guard log.dictionary === dictionary else { return .otherDictionary }
        if let condition, try !allows(condition, key, digest, in: log, &writer) { return .refused }
        try holdLimits(for: draft.byteCount, digest, now: now, in: log, &writer, &departed)
        let place = try log.append(&draft, takesSerial: true, &writer)
        writer.savedAt = now
        log.keepReserve(at: place, &writer)
        let slot = IndexSlot(
            digest,
            place: place,
            byteCount: draft.byteCount,
            deadline: Record.deadline(attributes),
            isTagged: !attributes.tags.isEmpty
        )
        log.index.set(slot)
        writer.nextDeadline = min(writer.nextDeadline, slot.deadline)
        return .saved(
            EntryInformation(
                key: key.string,
                attributes: attributes,
                archiveByteCount: draft.archiveByteCount,
                storedByteCount: draft.byteCount,
                identity: EntryIdentity(attributes)
                    ?? EntryIdentity(volume: log.root.identity.number, file: writer.serial, checksum: 0)
            ),
            end: log.end
        )
    }

    private func allows(
        _ condition: (EntryInformation?) -> Bool,
        _ key: StoreKey,
        _ digest: KeyDigest,
        in log: PackedLog,
        _ writer: inout PackedLog.Writer
    ) throws(StoreError) -> Bool {
        let former: PackedLog.Found?
        do throws(StoreError) {
            let headByteCount = Record.headByteCount + key.bytes.count
            former = try log.find(key, digest, .head(byteCount: headByteCount), &writer)
        } catch {
            // A damaged entry is saved over.
            guard error.code == .corrupted else { throw error }
            former = nil
        }
        return condition(former.map { information($0, key.string, log) })
    }
}
