import Foundation

extension PackedStore {
    /// Implementation: deflate; then, while the directory is locked (`flock`), `fstat` and `pwrite` of the last segment.
    @discardableResult
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let (key, hash) = try self.key(key)
        guard archive.count <= maximumArchiveByteCount else {
            let reason = "\(archive.count) bytes are more than the limit of \(maximumArchiveByteCount)"
            throw StoreError(.tooLarge, action: "saving an archive", reason: reason)
        }
        return try save(key, hash, attributes, if: condition) { dictionary throws(StoreError) in
            try .entry(key: key.bytes, hash: hash, attributes: attributes, archive: archive, dictionary: dictionary)
        }
    }

    /// Implementation: a save of the same archive.
    package func moveDeadline(of entry: EntryInformation, to date: Date) throws(StoreError) -> EntryInformation? {
        guard !date.timeIntervalSinceReferenceDate.isNaN else {
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

    /// Saves the record that `makeDraft` makes for segments with a dictionary.
    func save(
        _ key: StoreKey,
        _ hash: UInt64,
        _ attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?,
        draft makeDraft: (PresetDictionary?) throws(StoreError) -> RecordDraft
    ) throws(StoreError) -> EntryInformation? {
        let now = attributes.storedAt.timeIntervalSinceReferenceDate
        return try writing { log throws(StoreError) in
            var isRetry = false
            while true {
                // The third time there is another dictionary again: one without is good in any segment.
                let dictionary = log.dictionary
                var draft = try makeDraft(dictionary)
                try checkFits(draft.byteCount)
                var departed = Departed()
                defer { tell(departed) }
                let result = try withRoom(for: draft.byteCount, key, hash, now: now, in: log, &departed) {
                    writer,
                    departed throws(StoreError) -> SaveResult in
                    try append(&draft, key, attributes, dictionary, condition, in: log, &writer, &departed)
                }
                switch result {
                case .saved(let information, let end):
                    try log.synchronize(upTo: end)
                    keepUp(log)
                    return information
                case .refused: return nil
                case .otherDictionary where isRetry: throw log.stale()
                case .otherDictionary: isRetry = true
                }
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
        _ key: StoreKey,
        _ attributes: EntryAttributes,
        _ dictionary: PresetDictionary?,
        _ condition: ((EntryInformation?) -> Bool)?,
        in log: PackedLog,
        _ writer: inout PackedLog.Writer,
        _ departed: inout Departed
    ) throws(StoreError) -> SaveResult {
        let hash = draft.hash
        let now = attributes.storedAt.timeIntervalSinceReferenceDate
        guard log.dictionary === dictionary else { return .otherDictionary }
        var former: PackedLog.Found?
        var formerPlace: RecordPlace?
        do throws(StoreError) {
            former = try log.find(key, hash, .head(byteCount: Record.headByteCount + key.bytes.count), &writer)
            formerPlace = former?.slot.place
        } catch {
            // What is damaged is saved over.
            guard error.code == .corrupted else { throw error }
            formerPlace = log.formerPlace(of: key.bytes, hash)
        }
        if let condition, !condition(former.map { information($0, key.string, log) }) { return .refused }
        try holdLimits(for: draft.byteCount, replaces: formerPlace != nil, now: now, in: log, &writer, &departed)
        // It may have been moved to make room.
        if formerPlace != nil { formerPlace = log.formerPlace(of: key.bytes, hash) }
        let serial = writer.serial + 1
        let place = try log.append(&draft, serial: serial, &writer)
        writer.serial = serial
        writer.savedAt = now
        let slot = IndexSlot(
            hash: hash,
            place: place,
            byteCount: draft.byteCount,
            deadline: Record.deadline(attributes),
            isTagged: !attributes.tags.isEmpty
        )
        log.index.put(slot, replacing: formerPlace)
        writer.nextDeadline = min(writer.nextDeadline, slot.deadline)
        return .saved(
            EntryInformation(
                key: key.string,
                attributes: attributes,
                archiveByteCount: draft.archiveByteCount,
                storedByteCount: draft.byteCount,
                identity: EntryIdentity(attributes)
                    ?? EntryIdentity(volume: log.root.identity.number, file: serial, checksum: 0)
            ),
            end: log.end
        )
    }
}
