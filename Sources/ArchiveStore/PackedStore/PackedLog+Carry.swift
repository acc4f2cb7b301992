/// Writing anew the entries of a segment that is given up.
extension PackedLog {
    /// Appends the entries that a plan keeps with one write, or in pieces where the volume has no room for all of them.
    ///
    /// In pieces, the blocks before the first remaining entry are given back before each piece, so that all pieces need
    /// no more room than one. That leaves a hole at the start of the first segment. A reader of the log finds nothing
    /// there, as if the segment were gone: by then every entry of the hole is at another place too.
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
            // Updated at once: other processes see this piece, whether the rest fails or not.
            for ((slot, draft), place) in zip(zip(kept, piece), places) {
                index.replace(slot.place, with: slot.moved(to: place, byteCount: draft.byteCount))
                writer.carriedByteCount += draft.byteCount
            }
            rest = rest.dropFirst(piece.count)
            // The records that replace the old ones must survive a power failure, too.
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

    /// Gives back the blocks of the first segment if there is a reserve. Its entries stand elsewhere by now.
    ///
    /// Leaves a hole as ``carry(_:outOf:_:)`` does, up to the seal.
    func punchWhereLittleIsFree(_ number: UInt32, _ writer: borrowing Writer) throws(StoreError) {
        guard try reserveGoal() > 0 else { return }
        try punch(number, to: size(number, writer) - Record.headByteCount)
    }

    /// Gives back the blocks of the first segment before the first remaining entry.
    private func punch(_ number: UInt32, before kept: ArraySlice<IndexSlot>) throws(StoreError) {
        guard let first = kept.map(\.place.offset).min() else { return }
        try punch(number, to: Int(first))
    }

    private func punch(_ number: UInt32, to end: Int) throws(StoreError) {
        guard let segment = try segments.segment(number) else { return }
        let start = segment.headerByteCount ?? SegmentHeader.byteCount
        guard start < end else { return }
        // The records that replace the dead ones must survive a power failure.
        try synchronizeAnew()
        do throws(SystemError) {
            try segment.punch(start..<end)
        } catch {
            throw StoreError(error, path: segments.path(number), action: "giving up a segment")
        }
    }
}
