#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension PackedLog {
    /// An entry's record, its slot, and its bytes.
    ///
    /// A class, because it is large and passed on often: copying it took a twentieth of a fetch.
    final class Found {
        let slot: IndexSlot
        let record: Record
        /// All bytes of the record, or those of the head only.
        let bytes: [UInt8]

        init(slot: IndexSlot, record: Record, bytes: [UInt8]) {
            self.slot = slot
            self.record = record
            self.bytes = bytes
        }
    }

    /// How much of a record is read.
    enum Extent {
        case head(byteCount: Int)
        /// All of it, checked.
        case whole

        static var head: Extent { .head(byteCount: Record.largestHeadByteCount) }
    }

    /// Reads a slot's record; `nil` if its segment is gone, or the entry was removed where it stands.
    ///
    /// - Parameter key: the key that the record is expected to have, which is not copied then.
    /// - Throws: `.corrupted` if it is damaged, `.io`.
    func read(_ slot: IndexSlot, _ extent: Extent, key: [UInt8] = []) throws(StoreError) -> Found? {
        let number = slot.place.segment
        guard let segment = try segments.segment(number) else { return nil }
        let bytes: [UInt8]
        do throws(SystemError) {
            let offset = Int(slot.place.offset)
            var count = Int(slot.byteCount)
            if case .head(let expected) = extent { count = min(count, expected) }
            // A damaged index could give any length.
            if count > Self.fewBytes { count = min(count, max(0, try segment.file.byteCount() - offset)) }
            bytes = try segment.file.read(count, at: offset)
        } catch {
            throw StoreError(error, path: segments.path(number), action: "reading an entry")
        }
        do throws(RecordFault) {
            let record =
                switch extent {
                case .whole: try Record(verifying: bytes, at: slot.place, key: key)
                case .head: try Record(head: bytes, at: slot.place, key: key)
                }
            guard record.byteCount == Int(slot.byteCount) else { throw .damaged }
            if record.kind == .removal { return nil }
            guard record.kind == .entry else { throw .damaged }
            return Found(slot: slot, record: record, bytes: bytes)
        } catch {
            // The head is longer than expected.
            if error == .incomplete, case .head(let expected) = extent, expected < Record.largestHeadByteCount {
                return try read(slot, .head)
            }
            throw damage(at: slot.place)
        }
    }

    /// As ``read(_:_:)``, but if the entry was moved meanwhile, reads it at its new place.
    func readOrFollow(_ slot: IndexSlot, _ extent: Extent) throws(StoreError) -> Found? {
        var damage: StoreError?
        do throws(StoreError) {
            if let found = try read(slot, extent) { return found }
        } catch {
            // Its blocks may have been given back since it was moved.
            guard error.code == .corrupted else { throw error }
            damage = error
        }
        try catchUp()
        let latest = slots(slot.hash)
        if let damage, latest.contains(where: { $0.place == slot.place }) { throw damage }
        // Another key may share the hash.
        for other in latest where other.place != slot.place && other.digest == slot.digest {
            if let found = try read(other, extent), found.record.byteCount == Int(other.byteCount) { return found }
        }
        return nil
    }

    private static var fewBytes: Int { 1 << 16 }

    func damage(at place: RecordPlace) -> StoreError {
        // A loss has a place where no record can be: one of its least length would not fit there.
        let isBeyondRecords = Int(place.offset) + Record.headByteCount > Int(UInt32.max)
        let record = isBeyondRecords ? "a record behind the last sound one" : "the record at byte \(place.offset)"
        return StoreError(
            .corrupted,
            path: segments.path(place.segment),
            action: "reading an entry",
            reason: "\(record) is not the one that was written"
        )
    }

    /// The slots of all keys with a hash.
    func slots(_ hash: UInt64) -> [IndexSlot] { index.withPart(hash) { $0.all(hash) } }

    /// The entry of a key; `nil` if there is none.
    ///
    /// - Throws: `.corrupted` with the place, if a record that may be the entry is damaged.
    func find(_ key: StoreKey, _ digest: KeyDigest, _ extent: Extent) throws(StoreError) -> Found? {
        let (found, gone) = try look(for: key, digest, extent)
        if gone == nil { return found }
        // Moved to another segment, or given up, since the index was asked.
        return try looking { writer throws(StoreError) in try find(key, digest, extent, &writer) }
    }

    /// As above, for a caller that changes the log.
    func find(
        _ key: StoreKey,
        _ digest: KeyDigest,
        _ extent: Extent,
        _ writer: inout Writer
    ) throws(StoreError) -> Found? {
        while true {
            let (found, gone) = try look(for: key, digest, extent)
            guard let gone else { return found }
            // The segment's file was deleted, or the entry was removed in place.
            index.remove(gone.hash, gone.place)
            writer.noteChange(gone.hash)
        }
    }

    private func look(
        for key: StoreKey,
        _ digest: KeyDigest,
        _ extent: Extent
    ) throws(StoreError) -> (found: Found?, gone: IndexSlot?) {
        let slot = index.slot(digest)
        if let slot, let found = try read(slot, extent, key: key.bytes) {
            // Otherwise the slot is from an index of another log, or of another key with the same digest.
            if found.record.key == key.bytes { return (found, nil) }
            return (nil, nil)
        }
        // If a part of the index could not be loaded, its entries only seem to be missing.
        try checkIndex()
        return (nil, slot)
    }

    // MARK: Removing

    /// Removes the entry of a key, after making room for the removal; returns false if that gave up the entry already.
    ///
    /// - Parameter now: as in ``makeRoom(for:now:_:_:)``.
    func remove(
        _ key: [UInt8],
        _ digest: KeyDigest,
        now: Double?,
        _ departed: inout Departed,
        _ writer: inout Writer
    ) throws(StoreError) -> Bool {
        try makeRoom(for: Record.headByteCount + key.count, now: now, &departed, &writer)
        // It may have been moved, or given up.
        guard let slot = index.slot(digest) else { return false }
        try remove(slot, key: key, &writer)
        return true
    }

    /// As above, where there is room: appends a removal, or on a full volume turns the entry's own record into one.
    func remove(_ slot: IndexSlot, key: [UInt8], _ writer: inout Writer) throws(StoreError) {
        var removal = RecordDraft.removal(key: key, hash: slot.hash)
        do throws(StoreError) {
            try appendWithReserve(&removal, &writer)
        } catch {
            guard error.isOutOfSpace else { throw error }
            try removeInPlace(slot, writer)
        }
        index.remove(slot.hash, slot.place)
        writer.noteChange(slot.hash)
    }

    /// Turns an entry's record into a removal, which takes no room. A fetch finds no entry there, and a reader of the
    /// log takes the record for a removal.
    private func removeInPlace(_ slot: IndexSlot, _ writer: borrowing Writer) throws(StoreError) {
        guard let found = try read(slot, .head), let segment = try segments.segment(slot.place.segment) else {
            return
        }
        // The snapshot has the entry, and no record behind its position says that the entry is gone. A process that
        // opens the log would not know that there is room to be made.
        if !settings.isLimited { try removeSnapshot() }
        hide()
        do {
            let head = found.record.headAsRemoval(found.bytes, at: slot.place)
            try segment.file.write(head, at: Int(slot.place.offset))
        } catch {
            throw StoreError(error, path: segments.path(segment.number), action: "removing an entry")
        }
        // The entry is removed, whether the hole gives room or not.
        _ = Result { () throws(SystemError) in try segment.punch(found.record, at: slot.place) }
        try synchronize(segment, upTo: size(segment.number, writer))
    }

    /// Removes the entries of `slots` that still exist and that `isChosen` accepts.
    ///
    /// - Parameters:
    ///   - gone: gets the removed entries, even if not all can be removed.
    ///   - departed: gets the entries that had to be given up for that.
    func remove(
        _ slots: ArraySlice<IndexSlot>,
        where isChosen: (EntryInformation) -> Bool,
        _ gone: inout [EntryInformation],
        _ departed: inout Departed
    ) throws(StoreError) {
        var chosen: [(key: StoreKey, digest: KeyDigest, entry: EntryInformation)] = []
        for slot in slots {
            do throws(StoreError) {
                guard let found = try readOrFollow(slot, .head), let key = found.key else { continue }
                let entry = found.record.information(key: key.string, volume: root.identity.number)
                if isChosen(entry) { chosen.append((key, slot.digest, entry)) }
            } catch {
                // A fetch of the entry reports the damage.
                guard error.code == .corrupted else { throw error }
            }
        }
        guard !chosen.isEmpty else { return }
        try changing { writer throws(StoreError) in
            for (key, digest, entry) in chosen {
                // It may have been saved over, given up or damaged meanwhile.
                let found: Found?
                do throws(StoreError) {
                    found = try find(key, digest, .head, &writer)
                } catch {
                    guard error.code == .corrupted else { throw error }
                    continue
                }
                guard let found,
                    found.record.information(key: key.string, volume: root.identity.number).identity
                        == entry.identity
                else { continue }
                if try remove(key.bytes, digest, now: nil, &departed, &writer) { gone.append(entry) }
            }
        }
    }

    /// Removes the damaged ones among the entries with a hash; returns how many there were.
    ///
    /// - Parameter departed: gets the entries that had to be given up for that.
    func removeDamaged(_ hash: UInt64, _ departed: inout Departed) throws(StoreError) -> Int {
        try changing { writer throws(StoreError) in try removeDamaged(hash, &departed, &writer) }
    }

    @discardableResult
    func removeDamaged(
        _ hash: UInt64,
        _ departed: inout Departed,
        _ writer: inout Writer
    ) throws(StoreError) -> Int {
        try makeRoom(for: Record.headByteCount, now: nil, &departed, &writer)
        var count = 0
        var others: [Found] = []
        for slot in slots(hash) {
            do throws(StoreError) {
                guard let found = try read(slot, .whole) else { continue }
                // With correct checksums, the payload may still be no archive, or its dictionary may be gone.
                do throws(StoreError) {
                    _ = try archive(of: found.record, found.bytes, limit: Zlib.largestByteCount)
                } catch {
                    guard error.code == .tooLarge else { throw error }
                }
                others.append(found)
            } catch {
                guard error.code == .corrupted else { throw error }
                // Gone for this process even if no loss record can be appended.
                index.remove(hash, slot.place)
                count += 1
            }
        }
        guard count > 0 else { return 0 }
        try appendLosses([hash], keeping: others, &writer)
        return count
    }
}

extension PackedLog.Found {
    /// The record's key; `nil` if a store does not accept it.
    var key: StoreKey? {
        String(validating: record.key, as: UTF8.self).flatMap { try? StoreKey($0) }
    }
}
