import Foundation

/// Reads the records that the index names.
final class RecordReader: Sendable {
    let segments: SegmentTable
    let index: PackedIndex
    let status: LogStatus
    private let archiveByteLimit: Int
    private let hashing: @Sendable ([UInt8]) -> KeyDigest

    /// - Parameters:
    ///   - archiveByteLimit: The longest archive whose record is read whole.
    ///   - hashing: Returns a key's digest.
    init(
        segments: SegmentTable,
        index: PackedIndex,
        status: LogStatus,
        archiveByteLimit: Int,
        hashing: @escaping @Sendable ([UInt8]) -> KeyDigest
    ) {
        self.segments = segments
        self.index = index
        self.status = status
        self.archiveByteLimit = archiveByteLimit
        self.hashing = hashing
    }

    /// How much of a record is read.
    enum Extent {
        case head(byteCount: Int)
        /// All of it, checked.
        case whole

        static var head: Extent { .head(byteCount: Record.largestHeadByteCount) }
    }

    /// Whether a record is longer than that of any archive within the limit. It is not read whole then: it may be as long as
    /// its file, which takes no room where it is a hole.
    func isTooLong(_ byteCount: Int) -> Bool { byteCount > Record.largestByteCount(forArchiveOf: archiveByteLimit) }

    /// Reads a slot's record; `nil` if its segment is gone.
    ///
    /// - Parameter key: the key that the record is expected to have, which is not copied then.
    /// - Throws: `.corrupted` if it is damaged, `.io`; `.tooLarge` for all of a record that ``isTooLong(_:)``.
    func read(_ slot: IndexSlot, _ extent: Extent, key: [UInt8] = []) throws(StoreError) -> LocatedRecord? {
        if case .whole = extent, isTooLong(Int(slot.byteCount)) {
            guard let found = try read(slot, .head, key: key) else { return nil }
            throw tooLarge(found.record, limit: archiveByteLimit)
        }
        let number = slot.place.segment
        guard let segment = try segments.segment(number) else { return nil }
        var bytes: [UInt8]
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
        return try record(at: slot, in: &bytes, of: segment, extent, key: key)
    }

    /// The record of a slot.
    ///
    /// - Parameter bytes: of the record, as many as were to be read; an encrypted payload is decrypted there.
    /// - Throws: as ``read(_:_:key:)``.
    private func record(
        at slot: IndexSlot,
        in bytes: inout [UInt8],
        of segment: Segment,
        _ extent: Extent,
        key: [UInt8]
    ) throws(StoreError) -> LocatedRecord? {
        var failure: StoreError?
        var dictionary: PresetDictionary?
        do throws(RecordFault) {
            let record =
                switch extent {
                case .whole:
                    try Record(verifying: &bytes, at: slot.place, in: segment.form, key: key) {
                        hasSoundPayload($0, $1, in: segment, dictionary: &dictionary, failure: &failure)
                    }
                case .head: try Record(head: bytes, at: slot.place, in: segment.form, key: key)
                }
            guard record.byteCount == Int(slot.byteCount) else { throw .damaged }
            guard record.kind == .entry else { throw .damaged }
            return LocatedRecord(slot: slot, record: record, bytes: bytes, dictionary: dictionary)
        } catch {
            if let failure { throw failure }
            // The head is longer than expected.
            if error == .incomplete, case .head(let expected) = extent, expected < Record.largestHeadByteCount {
                return try read(slot, .head)
            }
            // Another process may have removed the file, and made it empty.
            if (try? segment.file.extent().linkCount) == 0 { return nil }
            throw damage(at: slot.place)
        }
    }

    /// Whether the payload of a record is the one that was written.
    ///
    /// - Parameters:
    ///   - dictionary: gets the one that a bare payload was made with.
    ///   - failure: gets the error if that could not be found out.
    private func hasSoundPayload(
        _ record: Record,
        _ bytes: [UInt8],
        in segment: Segment,
        dictionary: inout PresetDictionary?,
        failure: inout StoreError?
    ) -> Bool {
        guard record.isBare else { return record.hasSoundPayload(bytes, dictionary: nil) }
        do throws(StoreError) {
            dictionary = try bareDictionary(of: record, in: bytes, segment: segment)
            return record.hasSoundPayload(bytes, dictionary: dictionary?.identifier)
        } catch {
            failure = error
            return false
        }
    }

    private static let fewBytes = 1 << 16

    private func damage(at place: RecordPlace) -> StoreError {
        // A loss has a place where no record can be: one of its least length would not fit there.
        let isBeyondRecords = Int(place.offset) + Record.largestFieldsByteCount > Int(UInt32.max)
        let record = isBeyondRecords ? "a record behind the last sound one" : "the record at byte \(place.offset)"
        return StoreError(
            .corrupted,
            path: segments.path(place.segment),
            action: "reading an entry",
            reason: "\(record) is not the one that was written"
        )
    }

    /// Reads the records of some keys; records that lie close to each other by one read.
    ///
    /// - Parameters:
    ///   - slots: those of the keys, in their order.
    ///   - body: is given the place of each key in `keys`, with its record. Not called for a record that is gone, damaged
    ///     or another key's: the caller reads that key by itself, which tells more.
    func readTogether(
        _ keys: [StoreKey],
        at slots: [IndexSlot],
        _ body: (_ index: Int, LocatedRecord) throws(StoreError) -> Void
    ) throws(StoreError) {
        let order = slots.indices.sorted { slots[$0].place < slots[$1].place }
        var rest = order[...]
        while let first = rest.first {
            let start = slots[first].place
            var end = Int(start.offset)
            // A damaged index could give any places and lengths.
            let run = rest.prefix { index in
                let slot = slots[index]
                let slotEnd = Int(slot.place.offset) + Int(slot.byteCount)
                guard slot.place.segment == start.segment, Int(slot.place.offset) - end <= Self.mostSkippedBytes,
                    slotEnd - Int(start.offset) <= Self.mostBytesOfRun
                else { return false }
                end = max(end, slotEnd)
                return true
            }
            // A record that is too long for a run.
            guard !run.isEmpty else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst(run.count)
            guard let segment = try segments.segment(start.segment) else { continue }
            let byteCount = end - Int(start.offset)
            let bytes = try attempt("reading entries", segments.path(start.segment)) { () throws(SystemError) in
                try segment.file.read(byteCount, at: Int(start.offset))
            }
            for index in run {
                let slot = slots[index]
                let offset = Int(slot.place.offset - start.offset)
                guard offset + Int(slot.byteCount) <= bytes.count else { continue }
                var own = Array(bytes[offset..<offset + Int(slot.byteCount)])
                let found = Result { () throws(StoreError) in
                    try record(at: slot, in: &own, of: segment, .whole, key: keys[index].bytes)
                }
                guard case .success(let record?) = found, record.record.key == keys[index].bytes else { continue }
                try body(index, record)
            }
        }
    }

    /// The most bytes between two records that are read together: to read them takes less time than another call.
    private static let mostSkippedBytes = 4_096
    private static let mostBytesOfRun = 1 << 16

    /// Looks for the entry of a key in the index, and reads its record.
    ///
    /// - Returns: the record; or `gone`, the key's slot if the entry is no longer where that says.
    /// - Throws: `.corrupted` with the place, if a record that may be the entry is damaged.
    func lookUp(
        _ key: StoreKey,
        _ digest: KeyDigest,
        extent: Extent
    ) throws(StoreError) -> (found: LocatedRecord?, gone: IndexSlot?) {
        let slot = index.slot(digest)
        if let slot, let found = try read(slot, extent, key: key.bytes) {
            // Otherwise the slot is from an index of another log, or of another key with the same digest.
            if found.record.key == key.bytes { return (found, nil) }
            return (nil, nil)
        }
        // If a part of the index could not be loaded, its entries only seem to be missing.
        try status.checkIndex()
        return (nil, slot)
    }

    /// Whether the log's records are encrypted.
    var isSealed: Bool { segments.keys != nil }

    // MARK: Slots

    /// The digest of a record's key; for a record without one, the hash that the next record has for it.
    func digest(of record: Record) -> KeyDigest {
        if !record.key.isEmpty { return hashing(record.key) }
        guard record.kind == .loss || record.kind == .floor else { return KeyDigest(high: 0, low: 0) }
        return KeyDigest(high: KeyDigest.shortened(hash: record.serial), low: 0)
    }

    /// The hash under which bytes count that are not a record any longer.
    func hash(ofDamaged bytes: [UInt8]) -> UInt64 { hashing(bytes).high }

    /// The slot of a record that is its key's latest; `nil` if another record is, or none.
    func slot(of record: Record, at place: RecordPlace) -> IndexSlot? {
        guard let slot = index.slot(digest(of: record)), slot.place == place else { return nil }
        return slot
    }

    // MARK: Information

    /// The information about an entry.
    func information(_ found: LocatedRecord, key: String) -> EntryInformation {
        information(found.record, key: key)
    }

    func information(_ record: Record, key: String) -> EntryInformation {
        record.information(key: key, volume: segments.root.identity.number)
    }
}
