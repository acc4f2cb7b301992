import Foundation

extension PackedStore {
    /// Implementation: deflate; then, while the directory is locked (`flock`), `statx` and `pwrite` of the last segment.
    @discardableResult
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let (key, digest) = try self.key(key)
        guard archive.count <= maximumArchiveByteCount else {
            throw StoreError.tooLarge(archive.count, limit: maximumArchiveByteCount)
        }
        return try save(key, digest, attributes, if: condition) { dictionary throws(StoreError) in
            try .entry(
                key: key.bytes,
                hash: digest.high,
                attributes: attributes,
                archive: archive,
                dictionary: dictionary,
                compression: settings.compression
            )
        }
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

    /// Saves the record that `makeDraft` makes for segments with a dictionary.
    func save(
        _ key: StoreKey,
        _ digest: KeyDigest,
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
                try checkFits(draft.byteCount, in: log)
                var departed = Departed()
                defer { tell(departed) }
                let result = try withRoom(for: draft.byteCount, digest, now: now, in: log, &departed) {
                    writer,
                    departed throws(StoreError) -> SaveResult in
                    try append(&draft, key, digest, attributes, dictionary, condition, in: log, &writer, &departed)
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
        _ digest: KeyDigest,
        _ attributes: EntryAttributes,
        _ dictionary: PresetDictionary?,
        _ condition: ((EntryInformation?) -> Bool)?,
        in log: PackedLog,
        _ writer: inout PackedLog.Writer,
        _ departed: inout Departed
    ) throws(StoreError) -> SaveResult {
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
            // What is damaged is saved over.
            guard error.code == .corrupted else { throw error }
            former = nil
        }
        return condition(former.map { information($0, key.string, log) })
    }
}
