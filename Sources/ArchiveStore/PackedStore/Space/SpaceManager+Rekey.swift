/// Writing entries again that are encrypted with a former key.
extension SpaceManager {
    /// Writes segments again, up to the last one with a former key. A store at its limit evicts entries for the room.
    ///
    /// - Parameter goesOn: is called after each segment.
    func rekey(while goesOn: (Rekeying) -> Bool) throws(StoreError) -> Rekeying {
        var evictions = Evictions()
        defer { user.tell(evictions) }
        var result = Rekeying()
        guard let last = try formerKeys().keys.max() else { return result }
        var due: [UInt32: (entryCount: Int, byteCount: Int)] = [:]
        for part in 0..<PackedIndex.partCount {
            for slot in reader.index.slots(inPart: part, keepsPart: false) where slot.place.segment <= last {
                due[slot.place.segment, default: (0, 0)].entryCount += 1
                due[slot.place.segment, default: (0, 0)].byteCount += Int(slot.byteCount)
            }
        }
        // Records that seem to be dead may be live in a part of the index that could not be loaded.
        try reader.status.checkIndex()
        result.totalByteCount = due.values.reduce(0) { $0 + $1.byteCount }
        while let first = try firstSegment(), first <= last,
            try compactFirst(upTo: first, evictions: &evictions, withoutRoom: evictFirst)
        {
            result.entryCount += due[first]?.entryCount ?? 0
            result.byteCount += due[first]?.byteCount ?? 0
            guard goesOn(result) else { break }
        }
        try leaveEmptySegments()
        result.formerKeys = Set(try formerKeys().values)
        return result
    }

    /// Begins another segment where there are no entries: an empty one is not written again, and opening takes its key.
    private func leaveEmptySegments() throws(StoreError) {
        guard try !formerKeys().isEmpty else { return }
        try lock.withExclusiveLog { state throws(StoreError) in
            guard reader.index.total.count == 0 else { return }
            defer { state.reclaimer.clock.leaveSegments(upTo: .max) }
            try state.log.removeAll()
        }
    }

    private func firstSegment() throws(StoreError) -> UInt32? {
        try lock.withWriterLock { $0.log.chain.first }
    }

    /// The segments that are encrypted with another key than the current one, and the identifiers of their keys; 0 where
    /// that is unknown, since the header is damaged.
    private func formerKeys() throws(StoreError) -> [UInt32: UInt64] {
        try lock.withWriterLock { state throws(StoreError) in
            let current = reader.segments.keys?.current.identifier
            var former: [UInt32: UInt64] = [:]
            for number in state.log.chain.allByteCounts.keys {
                guard let segment = try reader.segments.segment(number) else { continue }
                let key = segment.header?.key ?? 0
                if key != current { former[number] = key }
            }
            return former
        }
    }
}
