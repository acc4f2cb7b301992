extension PackedLog {
    /// An entry's record, where it is, and its bytes.
    struct Found {
        let slot: IndexSlot
        let record: Record
        /// All of them, or of the head only.
        let bytes: [UInt8]
    }

    /// How much of a record is read.
    enum Extent {
        case head
        /// All of it, checked.
        case whole
    }

    /// Reads a slot's record; `nil` if its segment is gone.
    ///
    /// - Throws: `.corrupted` if it is damaged, `.io`.
    func read(_ slot: IndexSlot, _ extent: Extent) throws(StoreError) -> Found? {
        let number = slot.place.segment
        guard let segment = try segments.segment(number) else { return nil }
        let bytes: [UInt8]
        do throws(SystemError) {
            let offset = Int(slot.place.offset)
            var count = Int(slot.byteCount)
            if extent == .head { count = min(count, Record.largestHeadByteCount) }
            // A damaged index could say anything.
            if count > Self.fewBytes { count = min(count, max(0, try segment.file.byteCount() - offset)) }
            bytes = try segment.file.read(count, at: offset)
        } catch {
            throw StoreError(error, path: segments.path(number), action: "reading an entry")
        }
        do throws(RecordFault) {
            let record = try extent == .whole
                ? Record(verifying: bytes, at: slot.place) : Record(head: bytes, at: slot.place)
            guard record.kind == .entry, record.byteCount == Int(slot.byteCount) else { throw .damaged }
            return Found(slot: slot, record: record, bytes: bytes)
        } catch {
            throw damage(at: slot.place)
        }
    }

    private static var fewBytes: Int { 1 << 16 }

    func damage(at place: RecordPlace) -> StoreError {
        StoreError(
            .corrupted,
            path: segments.path(place.segment),
            action: "reading an entry",
            reason: "the record at byte \(place.offset) is not the one that was written"
        )
    }

    /// The slots whose keys have a hash.
    func slots(_ hash: UInt64) -> [IndexSlot] {
        guard let (slot, hasOthers) = index.withPart(hash, { $0.first(hash) }) else { return [] }
        return hasOthers ? index.withPart(hash) { $0.all(hash) } : [slot]
    }

    /// The entry of a key; `nil` if there is none.
    ///
    /// - Throws: `.corrupted` if what may be it is damaged, with where that is.
    func find(_ key: StoreKey, _ hash: UInt64, _ extent: Extent) throws(StoreError) -> Found? {
        for attempt in 0... {
            var damage: StoreError?
            var missing: UInt32?
            for slot in slots(hash) {
                do throws(StoreError) {
                    if let found = try read(slot, extent) {
                        if found.record.key == key.bytes { return found }
                    } else {
                        missing = slot.place.segment
                    }
                } catch {
                    guard error.code == .corrupted else { throw error }
                    damage = error
                }
            }
            // Moved to another segment, or given up, since the index was asked; or somebody has deleted the file.
            if let missing, attempt < 2 {
                try looking { writer throws(StoreError) in
                    if attempt == 1 { forget(segment: missing, &writer) }
                }
                continue
            }
            if let damage { throw damage }
            return nil
        }
        return nil
    }

    private func forget(segment: UInt32, _ writer: inout Writer) {
        index.forEachPart { _ = $0.removeAll { $0.place.segment == segment } }
        writer.changes = nil
    }

    /// Where the entry of a key is, for whoever changes it.
    func former(_ key: StoreKey, _ hash: UInt64) throws(StoreError) -> Found? { try find(key, hash, .head) }

    /// Removes what is damaged among the entries with a hash, and says how many there were.
    func removeDamaged(_ hash: UInt64, _ extent: Extent = .whole) throws(StoreError) -> Int {
        try changing { writer throws(StoreError) in
            var count = 0
            for slot in slots(hash) {
                do throws(StoreError) {
                    _ = try read(slot, extent)
                } catch {
                    guard error.code == .corrupted else { throw error }
                    // Gone for this process even if that cannot be written down.
                    index.remove(hash, slot.place)
                    count += 1
                }
            }
            guard count > 0 else { return 0 }
            var others = try slots(hash).compactMap { slot throws(StoreError) in try read(slot, .whole) }
                .map { RecordDraft(moving: $0.record, bytes: $0.bytes, hash: hash) }
            var loss = RecordDraft.loss(hash: hash)
            _ = try append(&loss, serial: nil, &writer)
            // Those that share the hash are lost with it in the log, so they are written anew.
            let former = slots(hash)
            for (slot, place) in zip(former, try append(&others, &writer)) {
                index.put(slot.moved(to: place), replacing: slot.place)
            }
            return count
        }
    }
}
