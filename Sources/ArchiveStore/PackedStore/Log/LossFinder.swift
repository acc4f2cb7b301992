import Foundation

/// Finds records that are missing at the end of a log: when it is opened, and before the bytes there are cut off.
///
/// No later record names the damaged one at the end. So that a key's former entry is not taken for its latest, such
/// keys count as damaged, and the next change appends a loss for each.
struct LossFinder {
    let reader: RecordReader
    let tail: LogTail
    let follower: LogFollower

    /// Finds the records that are damaged behind the last sound one.
    ///
    /// The start of a sound record is a write that was cut short, and zeros are blocks that never reached the device:
    /// their saves did not return, or were lost with the power.
    func findDamagedTail(of log: inout SegmentLog) throws(StoreError) {
        guard let tail = tail.current, !log.chain.isSealed else { return }
        let segments = reader.segments
        let byteCount = try segments.byteCount(of: tail.segment)
        let lost = try attempt("following a segment", segments.path(tail.segment.number)) {
            () throws(SystemError) in
            try damagedHashes(in: SegmentScanner(tail.segment, from: tail.end, to: byteCount))
        }
        markLost(lost, in: &log)
    }

    /// The hashes that damaged records count under, which stand one behind another where `scanner` is.
    ///
    /// A record that can be repaired tells where the next one begins. Behind another one it is looked for; the bytes
    /// found there may be of a payload, and count only if they can be repaired.
    private func damagedHashes(in scanner: SegmentScanner) throws(SystemError) -> Set<UInt64> {
        var scanner = scanner
        var hashes: Set<UInt64> = []
        var patience = Self.mostCheckedBytes
        var offset = scanner.offset
        var isBeginning = true
        while hashes.count < Self.mostHashes, patience > 0 {
            let rest = try scanner.head(at: offset)
            patience -= rest.count
            guard rest.count >= Record.leastByteCount, rest.contains(where: { $0 != 0 }) else { break }
            let place = scanner.place(offset)
            let fault: RecordFault
            do throws(RecordFault) {
                _ = try Record(head: rest, at: place)
                break
            } catch {
                fault = error
            }
            if isBeginning || Record.hasHead(rest),
                let record = Record(repairing: rest, at: place, patience: &patience)
            {
                // Not all of it is there: it was being written.
                guard offset + record.byteCount <= scanner.end else { break }
                hashes.insert(reader.digest(of: record).high)
                offset += record.byteCount
                isBeginning = true
                continue
            }
            if isBeginning {
                guard fault == .damaged else { break }
                // The record's key is unknown, but the damage is not: it counts under a hash of the bytes.
                hashes.insert(reader.hash(ofDamaged: rest))
            }
            guard let candidate = try scanner.nextCandidate(from: offset + 1) else { break }
            offset = candidate
            isBeginning = false
        }
        return hashes
    }

    /// Damage that comes by itself is less. To look at more, as in a file that was made for that, would take long.
    private static let mostHashes = 1 << 12
    private static let mostCheckedBytes = 1 << 28

    /// Finds the keys of records that are missing from the end of the log, where a snapshot knows of them.
    ///
    /// - Parameter snapshot: the index at a position behind the end, so that every key must be as it says.
    func findMissingEnd(by snapshot: IndexSnapshot, in log: inout SegmentLog) {
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
            // Keys missing from the index were in the missing records.
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
            if let floor = KeyDigest.segment(ofHash: hash) {
                if (1...number).contains(floor) { log.addFloor(floor) }
            } else {
                log.addLoss(hash)
            }
        }
    }
}
