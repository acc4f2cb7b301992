extension EntrySaver {
    /// Appends the records of a batch that have no place yet, in their order, with one write for each segment that they
    /// go to, and does not wait for the device.
    ///
    /// Makes no room, and evicts nothing: records are left for which that is needed, or if segments with other
    /// dictionaries begin twice in the meantime. The caller then appends them one by one, and each append
    /// evicts as many entries as it needs room for.
    ///
    /// - Throws: the error of the first record that could not be appended; those before it have their places.
    func append(_ batch: inout RecordBatch) throws(StoreError) {
        if batch.rest.isEmpty { return }
        // The second time with the dictionary of a segment that began while the records were deflated.
        for _ in 0..<2 {
            let dictionary = tail.dictionary
            let drafts = try drafts(of: batch.rest, dictionary)
            try space.checkFits(drafts.reduce(0) { max($0, $1.byteCount) })
            guard try space.volumeHasRoom(for: drafts.reduce(0) { $0 + $1.byteCount }) else { return }
            let isForTail = try space.lock.withExclusiveLog { state throws(StoreError) in
                guard tail.dictionary === dictionary else { return false }
                try append(drafts[...], of: &batch, to: &state)
                return true
            }
            if isForTail { return }
        }
    }

    /// The drafts of records, in their order; of many bytes, they are deflated on all processors at once.
    private func drafts(
        of records: ArraySlice<NewRecord>,
        _ dictionary: PresetDictionary?
    ) throws(StoreError) -> [RecordDraft] {
        let (compression, isSealed) = (compression, reader.isSealed)
        @Sendable func drafts(_ part: Range<Int>) throws(StoreError) -> [RecordDraft] {
            var drafts: [RecordDraft] = []
            drafts.reserveCapacity(part.count)
            for index in part {
                drafts.append(try records[index].draft(dictionary, compression, isSealed: isSealed))
            }
            return drafts
        }
        if records.reduce(0, { $0 + $1.archiveByteCount }) < Self.fewBytes { return try drafts(records.indices) }
        var all: [RecordDraft] = []
        all.reserveCapacity(records.count)
        let parts = Processors.map(records.indices) { part in
            Result { () throws(StoreError) in try drafts(part) }
        }
        for part in parts { all += try part.get() }
        return all
    }

    /// Deflating fewer bytes of archives takes about as long as having other threads do a part of it.
    private static let fewBytes = 1 << 15

    private func append(
        _ drafts: ArraySlice<RecordDraft>,
        of batch: inout RecordBatch,
        to state: inout LogState
    ) throws(StoreError) {
        if let limit = space.settings.countLimit, reader.index.total.count > limit - drafts.count { return }
        var rest = drafts
        while !rest.isEmpty {
            var piece = piece(of: rest, in: state.log)
            rest = rest.dropFirst(piece.count)
            guard space.budget.fits(piece.reduce(0) { $0 + $1.byteCount }, in: state.log) else { return }
            let places = try state.log.append(&piece, areNew: true)
            for ((record, draft), place) in zip(zip(batch.rest, piece), places) {
                batch.add(note(record, draft, at: place, in: &state))
            }
        }
    }

    /// The drafts that the next write takes: as many as go to one segment, at least one.
    private func piece(of drafts: ArraySlice<RecordDraft>, in log: SegmentLog) -> [RecordDraft] {
        var room = log.roomForBatch
        var count = 0
        for draft in drafts {
            room -= draft.byteCount
            if count > 0, room < 0 { break }
            count += 1
        }
        return Array(drafts.prefix(count))
    }
}
