extension SegmentLog {
    /// Removes the slots of records that are in no segment: those lost after the end of the log, and those that another
    /// process removed in place before their segment was dropped.
    ///
    /// All slots are looked at, but only the first time, and again once every segment of that time was dropped.
    mutating func removeLostSlots() {
        let first = chain.firstLiveSegment
        guard first > cleanedSegment, let number = tail.number, number >= first else { return }
        cleanedSegment = number
        let byteCounts = chain.allByteCounts
        index.removeSlots { slot in
            let end = Int(slot.place.offset) + Int(slot.byteCount)
            return slot.place.segment < first || byteCounts[slot.place.segment].map { end > $0 } ?? true
        }
    }

    /// Appends a loss for each hash, and in the same write moves the other entries of these hashes, which a reader
    /// drops with the loss.
    mutating func appendLosses(_ hashes: [UInt64], keeping others: [LocatedRecord]) throws(StoreError) {
        var drafts = hashes.map { RecordDraft.loss(hash: $0, isSealed: reader.isSealed) }
        var moved: [LocatedRecord] = []
        for other in others {
            let draft = try reader.draft(
                moving: other.record,
                bytes: other.bytes,
                from: other.slot,
                to: tail.dictionary
            )
            guard let draft else {
                reader.index.remove(other.slot.hash, other.slot.place)
                continue
            }
            drafts.append(draft)
            moved.append(other)
        }
        let places = try append(&drafts)
        for (found, (draft, place)) in zip(moved, zip(drafts, places).dropFirst(hashes.count)) {
            let slot = found.slot.moved(to: place, byteCount: draft.byteCount)
            reader.index.replace(found.slot.place, with: slot)
        }
    }
}
