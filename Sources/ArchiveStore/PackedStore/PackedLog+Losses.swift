/// Finds records that are missing at the end of a log when it is opened.
///
/// No later record names the damaged one at the end. So that a key's former entry is not taken for its latest, such
/// keys count as damaged, and the next change appends a loss for each.
extension PackedLog {
    /// Finds the record that is damaged behind the last sound one.
    ///
    /// The start of a sound record is a write that was cut short, and zeros are blocks that never reached the device:
    /// their saves did not return, or were lost with the power.
    func loseDamagedTail(_ writer: inout Writer) throws(StoreError) {
        guard let tail = tail.withLock({ $0 }), !writer.isSealed else { return }
        let rest: [UInt8]
        let byteCount: Int
        do throws(SystemError) {
            byteCount = try tail.segment.file.byteCount() - tail.end
            guard byteCount >= Record.headByteCount else { return }
            rest = try tail.segment.file.read(min(byteCount, Record.largestHeadByteCount), at: tail.end)
        } catch {
            throw StoreError(error, path: segments.path(tail.segment.number), action: "following a segment")
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
            lose([digest(of: record).high], &writer)
        } else if fault == .damaged {
            // The record's key is unknown, but the damage is not: it counts under a hash of the bytes.
            lose([hashing(rest).high], &writer)
        }
    }

    /// Finds the keys of records in missing last segments, where a snapshot was written after they were begun.
    ///
    /// - Parameter snapshot: the index at a position behind all segments, so that every key must be as it says.
    func loseMissingSegments(_ snapshot: IndexSnapshot, _ writer: inout Writer) {
        for part in 0..<PackedIndex.partCount {
            // A damaged part tells nothing.
            guard let known = snapshot.table(part: part, floor: 0) else { continue }
            var places: [UInt64: RecordPlace] = [:]
            known.forEachSlot { places[$0.hash] = $0.place }
            var lost: Set<UInt64> = []
            index.withPart(number: part) { table in
                table.forEachSlot { slot in
                    if places[slot.hash] != slot.place { lost.insert(slot.hash) }
                    places[slot.hash] = nil
                }
            }
            // Keys missing from the index were in the missing segments.
            lose(lost.union(places.keys), &writer)
        }
    }

    private func lose(_ hashes: Set<UInt64>, _ writer: inout Writer) {
        guard let tail = tail.withLock({ $0 }) else { return }
        for hash in hashes.sorted() {
            // No record can be at this place.
            let offset = UInt32.max - UInt32(clamping: writer.losses.count)
            let place = RecordPlace(segment: tail.segment.number, offset: offset)
            lose(hash, place, Record.headByteCount, &writer)
            writer.losses.append(hash)
        }
    }

    /// Appends the losses that were found on opening, before any other record is appended.
    func writeLosses(_ writer: inout Writer) throws(StoreError) {
        guard !writer.losses.isEmpty else { return }
        let losses = writer.losses
        writer.losses = []
        do throws(StoreError) {
            // Where there was no room for them, entries may have been saved under these hashes since.
            var others: [Found] = []
            for slot in losses.flatMap({ slots($0) }) {
                do throws(StoreError) {
                    if let found = try read(slot, .whole) { others.append(found) }
                } catch {
                    guard error.code == .corrupted else { throw error }
                }
            }
            try appendLosses(losses, keeping: others, &writer)
        } catch {
            // Tried again with the next record, which does not fail because of that.
            writer.losses = losses
            guard error.isOutOfSpace else { throw error }
        }
    }

    /// Appends a loss for each hash, and in the same write moves the other entries of these hashes, which a reader
    /// drops with the loss.
    func appendLosses(_ hashes: [UInt64], keeping others: [Found], _ writer: inout Writer) throws(StoreError) {
        var drafts = hashes.map { RecordDraft.loss(hash: $0) }
        drafts += others.map { RecordDraft(moving: $0.record, bytes: $0.bytes, hash: $0.slot.hash) }
        for (found, place) in zip(others, try append(&drafts, &writer).dropFirst(hashes.count)) {
            index.replace(found.slot.place, with: found.slot.moved(to: place, byteCount: found.record.byteCount))
        }
    }
}

extension Record {
    /// The record that the bytes begin with if one bit of its head is changed; `nil` if there is none.
    init?(repairing bytes: [UInt8], at place: RecordPlace) {
        func length(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
        guard bytes.count >= Self.headByteCount else { return nil }
        // If the flipped bit is in a length, it is in the first 64 bytes.
        let byteCount = min(Self.headByteCount + length(14) + length(16), bytes.count)
        let limit = byteCount <= Self.mostRepairedBytes ? byteCount : Self.headByteCount
        var bytes = Array(bytes.prefix(Self.mostRepairedBytes))
        for bit in 0..<limit * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8)
            if let record = try? Record(head: bytes, at: place) {
                self = record
                return
            }
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
        return nil
    }

    /// In longer heads, only the fixed part is repaired: trying all bits would take a while.
    private static let mostRepairedBytes = 2_048
}
