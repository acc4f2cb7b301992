import Foundation

/// Appends entries to a log.
final class EntrySaver: Sendable {
    /// An entry that has its place in a log, but may not be on the device yet.
    struct Appended: Sendable {
        let information: EntryInformation
        /// The place up to which the log must be on the device.
        let end: RecordPlace
    }

    private enum Outcome: Sendable {
        case saved(Appended)
        /// The condition said no.
        case refused
        /// The segment has another dictionary than the record.
        case otherDictionary
    }

    let reader: RecordReader
    let tail: LogTail
    let space: SpaceManager
    let user: PackedStoreUser
    let compression: ArchiveCompression

    init(
        reader: RecordReader,
        tail: LogTail,
        space: SpaceManager,
        user: PackedStoreUser,
        compression: ArchiveCompression
    ) {
        self.reader = reader
        self.tail = tail
        self.space = space
        self.user = user
        self.compression = compression
    }

    /// Appends a record, and does not wait for the device.
    ///
    /// - Returns: `nil` if the condition said no.
    func append(
        _ new: NewRecord,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> Appended? {
        let now = new.attributes.storedAt.timeIntervalSinceReferenceDate
        var isRetry = false
        while true {
            // A segment with another dictionary may begin while the archive is compressed. If that happens twice, the
            // log is reopened.
            let dictionary = tail.dictionary
            var draft = try new.draft(dictionary, compression, isSealed: reader.isSealed)
            try space.checkFits(draft.byteCount)
            var evictions = Evictions()
            defer { user.tell(evictions) }
            let outcome = try space.withSpace(for: draft.byteCount, new.digest, now: now, evictions: &evictions) {
                state,
                evictions throws(StoreError) -> Outcome in
                guard tail.dictionary === dictionary else { return .otherDictionary }
                if let condition, try !allows(new, condition, in: &state) { return .refused }
                try space.evict(for: draft.byteCount, new.digest, now: now, in: &state, evictions: &evictions)
                return .saved(try append(&draft, of: new, to: &state))
            }
            switch outcome {
            case .saved(let appended): return appended
            case .refused: return nil
            case .otherDictionary where isRetry: throw reader.status.stale()
            case .otherDictionary: isRetry = true
            }
        }
    }

    private func append(
        _ draft: inout RecordDraft,
        of new: NewRecord,
        to state: inout LogState
    ) throws(StoreError) -> Appended {
        let place = try state.log.append(&draft)
        return note(new, draft, at: place, in: &state)
    }

    /// Sets the slot of an appended record in the index.
    func note(
        _ new: NewRecord,
        _ draft: RecordDraft,
        at place: RecordPlace,
        in state: inout LogState
    ) -> Appended {
        let attributes = new.attributes
        state.reserve.adjust(at: place, in: &state.log)
        let slot = IndexSlot(
            new.digest,
            place: place,
            byteCount: draft.byteCount,
            deadline: Record.deadline(attributes),
            isTagged: !attributes.tags.isEmpty
        )
        state.log.index.save(slot, at: attributes.storedAt.timeIntervalSinceReferenceDate)
        let volume = reader.segments.root.identity.number
        return Appended(
            information: EntryInformation(
                key: new.key.string,
                attributes: attributes,
                archiveByteCount: draft.archiveByteCount,
                storedByteCount: draft.byteCount,
                identity: EntryIdentity(attributes)
                    ?? EntryIdentity(volume: volume, file: draft.serial(at: place), checksum: 0)
            ),
            end: tail.end
        )
    }

    /// Asks the condition of a save about the key's present entry.
    private func allows(
        _ new: NewRecord,
        _ condition: (EntryInformation?) -> Bool,
        in state: inout LogState
    ) throws(StoreError) -> Bool {
        let former: LocatedRecord?
        do throws(StoreError) {
            let headByteCount = Record.largestFieldsByteCount + new.key.bytes.count
            former = try state.log.find(new.key, new.digest, extent: .head(byteCount: headByteCount))
        } catch {
            // A damaged entry is saved over.
            guard error.code == .corrupted else { throw error }
            former = nil
        }
        return condition(former.map { reader.information($0, key: new.key.string) })
    }
}
