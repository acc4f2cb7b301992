import Foundation

/// Finds records that are missing at the end of a log when it is opened.
///
/// No later record names the damaged one at the end. So that a key's former entry is not taken for its latest, such
/// keys count as damaged, and the next change appends a loss for each.
struct LossFinder {
    let reader: RecordReader
    let tail: LogTail
    let follower: LogFollower

    /// Finds the record that is damaged behind the last sound one.
    ///
    /// The start of a sound record is a write that was cut short, and zeros are blocks that never reached the device:
    /// their saves did not return, or were lost with the power.
    func findDamagedTail(of log: inout SegmentLog) throws(StoreError) {
        guard let tail = tail.current, !log.chain.isSealed else { return }
        let segments = reader.segments
        let byteCount = try segments.byteCount(of: tail.segment) - tail.end
        guard byteCount >= Record.leastByteCount else { return }
        let path = segments.path(tail.segment.number)
        let rest = try attempt("following a segment", path) { () throws(SystemError) in
            try tail.segment.file.read(min(byteCount, Record.largestHeadByteCount), at: tail.end)
        }
        guard rest.contains(where: { $0 != 0 }) else { return }
        let place = RecordPlace(segment: tail.segment.number, offset: UInt32(clamping: tail.end))
        let fault: RecordFault
        do throws(RecordFault) {
            _ = try Record(head: rest, at: place)
            return
        } catch {
            fault = error
        }
        if let record = Record(repairing: rest, at: place) {
            // Not all of it is there: it was being written.
            guard record.byteCount <= byteCount else { return }
            markLost([reader.digest(of: record).high], in: &log)
        } else if fault == .damaged {
            // The record's key is unknown, but the damage is not: it counts under a hash of the bytes.
            markLost([reader.hash(ofDamaged: rest)], in: &log)
        }
    }

    /// Finds the keys of records in missing last segments, where a snapshot was written after they were begun.
    ///
    /// - Parameter snapshot: the index at a position behind all segments, so that every key must be as it says.
    func findMissingSegments(by snapshot: IndexSnapshot, in log: inout SegmentLog) {
        for part in 0..<PackedIndex.partCount {
            // A damaged part tells nothing.
            guard let known = snapshot.table(part: part, firstLiveSegment: 0) else { continue }
            var places: [UInt64: RecordPlace] = [:]
            known.forEachSlot { places[$0.hash] = $0.place }
            var lost: Set<UInt64> = []
            reader.index.withPart(number: part) { table in
                table.forEachSlot { slot in
                    if places[slot.hash] != slot.place { lost.insert(slot.hash) }
                    places[slot.hash] = nil
                }
            }
            // Keys missing from the index were in the missing segments.
            markLost(lost.union(places.keys), in: &log)
        }
    }

    private func markLost(_ hashes: Set<UInt64>, in log: inout SegmentLog) {
        guard let number = tail.number else { return }
        for hash in hashes.sorted() {
            // No record can be at this place.
            let offset = UInt32.max - UInt32(clamping: log.lostHashes.count)
            let place = RecordPlace(segment: number, offset: offset)
            follower.markDamaged(hash, at: place, byteCount: Record.largestFieldsByteCount, in: &log)
            log.addLoss(hash)
        }
    }
}
