#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension PackedLog {
    /// Applies every record that is not in the index yet.
    ///
    /// Bytes at the end that are no whole record may be one that is being written, and are left for a later call.
    func follow(_ writer: inout Writer) throws(StoreError) {
        try followToTheEnd(&writer)
        // Not before: behind a segment that was read to its seal there may be others.
        show()
    }

    private func followToTheEnd(_ writer: inout Writer) throws(StoreError) {
        while true {
            guard let current = tail.withLock({ $0 }) else {
                guard let (first, _, _) = try segments.latestNumbers() else { return }
                // Given up just now: there are other segments.
                guard let segment = try segments.segment(first) else { continue }
                setFloor(first, &writer)
                setTail(segment, at: segment.headerByteCount ?? 0)
                continue
            }
            if writer.isSealed {
                guard try advance(from: current, &writer) else {
                    return tail.withLock { $0?.isSealed = true }
                }
                continue
            }
            let size = try byteCount(of: current.segment)
            // Cut short by another process: records in the index may be gone.
            if size < current.end { throw stale() }
            if size == current.end || size == writer.longByteCount, !writer.isOpening { return }
            writer.longByteCount = nil
            do throws(SystemError) {
                var scanner = SegmentScanner(current.segment, from: current.end, to: size)
                // Wherever the scan ends, so that no record is applied twice.
                defer { setTail(current.segment, at: scanner.offset) }
                while !writer.isSealed, let step = try scanner.next() { try take(step, &writer) }
            } catch {
                throw StoreError(error, path: segments.path(current.segment.number), action: "following a segment")
            }
            if writer.isSealed { continue }
            // A seal comes before the next segment: if that is there, the seal is damaged.
            guard try advance(from: current, unsealedAt: size, &writer) else {
                let end = tail.withLock { $0?.end } ?? current.end
                if size - end > Self.shortByteCount { writer.longByteCount = size }
                return
            }
        }
    }

    /// Moves on to the next segment; returns false if there is none.
    ///
    /// - Parameter size: the tail's length when no seal was found in it; `nil` if it has one.
    private func advance(
        from current: Tail,
        unsealedAt size: Int? = nil,
        _ writer: inout Writer
    ) throws(StoreError) -> Bool {
        let number = current.segment.number
        guard let next = try segments.segment(number + 1) else {
            // Other processes gave up the next segment before this one saw it: its records are unknown.
            if let last = try segments.numbers().last, last > number { throw stale() }
            return false
        }
        let end = tail.withLock { $0?.end } ?? current.end
        if let size {
            // It has grown since `size` was read, and may have been sealed.
            if try byteCount(of: current.segment) != size { return true }
            writer.missing = try isDamagedSeal(at: end, to: size, of: current.segment) ? .seal : .records
        }
        // The process that sealed it may not have synchronized it.
        if !writer.isOpening {
            try synchronize(current.segment, upTo: size ?? end)
            forgetNames()
        }
        writer.setSize(size ?? end, of: number)
        writer.isSealed = false
        setTail(next, at: next.headerByteCount ?? 0)
        return true
    }

    /// Whether the bytes behind the last whole record are a damaged seal, and not a record that was cut off.
    private func isDamagedSeal(at start: Int, to end: Int, of segment: Segment) throws(StoreError) -> Bool {
        guard end - start == Record.headByteCount else { return false }
        do {
            return Record.isNearlySeal(try segment.file.read(Record.headByteCount, at: start))
        } catch {
            throw StoreError(error, path: segments.path(segment.number), action: "following a segment")
        }
    }

    func byteCount(of segment: Segment) throws(StoreError) -> Int {
        do {
            return try segment.file.byteCount()
        } catch {
            throw StoreError(error, path: segments.path(segment.number), action: "following a segment")
        }
    }

    /// Sets the tail. Readers wait until ``show()``.
    func setTail(_ segment: Segment, at end: Int) {
        let former = tail.withLock { tail in
            defer { tail = Tail(segment: segment, end: end) }
            return tail
        }
        _ = consume former
    }

    // MARK: Records

    private func take(_ step: SegmentScanner.Step, _ writer: inout Writer) throws(SystemError) {
        switch step {
        case .damage(let place, let byteCount):
            writer.damage = (place, byteCount)
        case .record(let record, let place):
            let digest = self.digest(of: record)
            try checkOrder(record, place, &writer)
            apply(record, place, digest, &writer)
            writer.previous = PreviousRecord(byteCount: record.byteCount, hash: digest.high)
            writer.recordsSinceSnapshot += 1
        }
    }

    /// The digest of a record's key; for a record without one, the hash that the next record has for it.
    func digest(of record: Record) -> KeyDigest {
        if !record.key.isEmpty { return hashing(record.key) }
        return KeyDigest(high: record.kind == .loss || record.kind == .floor ? record.serial : 0, low: 0)
    }

    /// The slot of a record that is its key's latest; `nil` if another record is, or none.
    func slot(of record: Record, at place: RecordPlace) -> IndexSlot? {
        guard let slot = index.slot(digest(of: record)), slot.place == place else { return nil }
        return slot
    }

    /// Finds out which records were lost before a record.
    ///
    /// - Throws: `ESTALE` if that is unknown: all segments must be read from the first one.
    private func checkOrder(_ record: Record, _ place: RecordPlace, _ writer: inout Writer) throws(SystemError) {
        let damage = writer.damage
        let missing = writer.missing
        writer.damage = nil
        writer.missing = nil
        if let damage, !record.isFirst {
            // One record was damaged, and this one has the hash of its key.
            if record.previousByteCount == damage.byteCount {
                return lose(record.previousHash, damage.place, damage.byteCount, &writer)
            }
            return try loseAll(&writer)
        }
        if record.isFirst, let missing {
            if missing == .seal, record.previousByteCount == Record.headByteCount { return }
            return try loseAll(&writer)
        }
        guard let previous = writer.previous else { return }
        if record.previousByteCount != previous.byteCount || record.previousHash != previous.hash {
            try loseAll(&writer)
        }
    }

    /// Marks the latest entry of a key as damaged: a fetch is to find the damage, not an older entry.
    func lose(_ hash: UInt64, _ place: RecordPlace, _ byteCount: Int, _ writer: inout Writer) {
        guard hash != 0 else { return }
        // A floor's hash is its segment number, which is not above that of the segment it is in.
        if hash <= UInt64(place.segment) { setFloor(UInt32(hash), &writer) }
        writer.noteChange(hash)
        index.withPart(hash) { table in
            for slot in table.all(hash) { _ = table.remove(hash, slot.place) }
            let digest = KeyDigest(high: hash, low: 0)
            table.insert(IndexSlot(digest, place: place, byteCount: byteCount, deadline: 0, isTagged: true))
        }
    }

    /// Handles missing records that may have changed any entry before them.
    private func loseAll(_ writer: inout Writer) throws(SystemError) {
        // Entries that are known already, or from a snapshot, may be of a log that was cut meanwhile and has grown
        // again.
        guard writer.isOpening, writer.snapshotPosition == nil else {
            shared.isBroken.store(true, ordering: .relaxed)
            throw SystemError(number: ESTALE)
        }
        writer.changes = nil
        index.forEachPart { $0 = IndexTable() }
    }

    private func apply(_ record: Record, _ place: RecordPlace, _ digest: KeyDigest, _ writer: inout Writer) {
        let hash = digest.high
        switch record.kind {
        case .entry:
            if record.serial <= Record.largestSerial { writer.serial = max(writer.serial, record.serial) }
            writer.noteChange(hash)
            let slot = IndexSlot(record, digest, place: place)
            index.set(slot)
            writer.nextDeadline = min(writer.nextDeadline, slot.deadline)
        case .removal:
            writer.noteChange(hash)
            if let former = index.slot(digest) { index.remove(hash, former.place) }
        case .loss:
            writer.noteChange(hash)
            index.withPart(hash) { table in
                for slot in table.all(hash) { _ = table.remove(hash, slot.place) }
            }
        case .floor:
            setFloor(UInt32(clamping: record.serial), &writer)
        case .seal:
            writer.isSealed = true
        case nil:
            break
        }
    }

    /// Up to this many bytes behind the last record are read again each time.
    private static var shortByteCount: Int { 1 << 14 }

    /// Notes that all segments before this one are gone, or about to go.
    func setFloor(_ number: UInt32, _ writer: inout Writer) {
        guard number > writer.floor, number <= Segment.largestNumber else { return }
        raiseFloor(to: number, &writer)
        index.forEachLoadedPart { table in
            for slot in table.removeAll(where: { $0.place.segment < number }) { writer.noteChange(slot.hash) }
        }
        // The snapshot was removed with the segment of its position, and gives its blocks back when it is closed.
        if let position = writer.snapshotPosition, position.segment < number { index.loadAll() }
    }

    /// As above, where the index has no entries in those segments any more.
    func raiseFloor(to number: UInt32, _ writer: inout Writer) {
        writer.floor = number
        shared.floor.store(number, ordering: .relaxed)
        // The process that gave them up may have been killed before it removed them.
        if writer.isOpening { writer.strays += writer.sizes.keys.filter { $0 < number } }
        for gone in writer.sizes.keys.filter({ $0 < number }) { writer.setSize(nil, of: gone) }
        writer.closed += segments.close { $0 < number }
    }
}

extension IndexSlot {
    init(_ record: Record, _ digest: KeyDigest, place: RecordPlace) {
        self.init(
            digest,
            place: place,
            byteCount: record.byteCount,
            deadline: Record.deadline(record.attributes),
            isTagged: !record.attributes.tags.isEmpty
        )
    }
}
