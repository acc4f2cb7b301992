/// Writing anew the entries of a segment that is given up.
extension PackedLog {
    /// Appends the entries that a plan keeps, with one write, or in pieces where the volume has no room for all of them.
    ///
    /// With pieces, the blocks before the first entry that is left are given back before each, so that all of them need
    /// no more room than one. That leaves a hole at the start of the first segment, where a reader of the log finds
    /// nothing, as if the segment were gone: every entry that was there stands at another place by then.
    func carry(_ plan: Plan, outOf number: UInt32, _ writer: inout Writer) throws(StoreError) {
        var rest = plan.drafts[...]
        var mostBytes = Int.max
        while !rest.isEmpty {
            var piece = Self.piece(of: rest, mostBytes)
            let kept = plan.kept[rest.startIndex...]
            let places: [RecordPlace]
            do throws(StoreError) {
                places = try append(&piece, &writer)
            } catch {
                guard error.isOutOfSpace, plan.isCarriedInPieces, piece.count > 1 || mostBytes == .max else {
                    throw error
                }
                mostBytes = mostBytes == .max ? Self.pieceByteCount : mostBytes / 2
                try punch(number, before: kept)
                continue
            }
            // At once, as others see it, whatever becomes of the rest.
            for ((slot, draft), place) in zip(zip(kept, piece), places) {
                index.replace(slot.place, with: slot.moved(to: place, byteCount: draft.byteCount))
                writer.carriedByteCount += draft.byteCount
            }
            rest = rest.dropFirst(piece.count)
            // What took the place of the dead must not go with the power either.
            try synchronize()
            if !rest.isEmpty { try punch(number, before: plan.kept[rest.startIndex...]) }
        }
        if plan.drafts.isEmpty { try synchronizeAnew() }
    }

    private static var pieceByteCount: Int { 1 << 16 }

    /// The first drafts that have no more than so many bytes together; at least one.
    private static func piece(of drafts: ArraySlice<RecordDraft>, _ mostBytes: Int) -> [RecordDraft] {
        var byteCount = 0
        let end = drafts.firstIndex { draft in
            byteCount += draft.byteCount
            return byteCount > mostBytes
        }
        return Array(drafts[..<max(end ?? drafts.endIndex, drafts.startIndex + 1)])
    }

    /// Gives back the blocks of the first segment, whose entries stand elsewhere by now, if there is a reserve.
    ///
    /// What is left is a hole as ``carry(_:outOf:_:)`` makes them, up to the seal.
    func punchWhereLittleIsFree(_ number: UInt32, _ writer: borrowing Writer) throws(StoreError) {
        guard try reserveGoal() > 0 else { return }
        try punch(number, to: size(number, writer) - Record.headByteCount)
    }

    /// Gives back the blocks of the first segment before the entries in it that are left.
    private func punch(_ number: UInt32, before kept: ArraySlice<IndexSlot>) throws(StoreError) {
        guard let first = kept.map(\.place.offset).min() else { return }
        try punch(number, to: Int(first))
    }

    private func punch(_ number: UInt32, to end: Int) throws(StoreError) {
        guard let segment = try segments.segment(number) else { return }
        let start = segment.headerByteCount ?? SegmentHeader.byteCount
        guard start < end else { return }
        // What took the place of the dead must not go with the power.
        try synchronizeAnew()
        do throws(SystemError) {
            try segment.punch(start..<end)
        } catch {
            throw StoreError(error, path: segments.path(number), action: "giving up a segment")
        }
    }
}
