#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension PackedLog {
    /// Takes in every record that is not in the index yet.
    ///
    /// What is no whole record at the end may be one that is being written, and stays for another time.
    func follow(_ writer: inout Writer) throws(StoreError) {
        try followToTheEnd(&writer)
        // Not before: a segment that was read to its seal is not all there is.
        show()
    }

    private func followToTheEnd(_ writer: inout Writer) throws(StoreError) {
        while true {
            guard let current = tail.withLock({ $0 }) else {
                guard let (first, _, _) = try segments.latestNumbers() else { return }
                // Given up just now: there are others.
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
            // Cut short by somebody else: what is in the index may not be there any more.
            if size < current.end { throw stale() }
            if size == current.end || size == writer.longByteCount, !writer.isOpening { return }
            writer.longByteCount = nil
            do throws(SystemError) {
                var scanner = SegmentScanner(current.segment, from: current.end, to: size)
                // Wherever it ends: no record is taken twice.
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

    /// Goes on with the next segment, and says whether there is one.
    ///
    /// - Parameter size: how long the tail was when no seal was found in it; `nil` if it has one.
    private func advance(
        from current: Tail,
        unsealedAt size: Int? = nil,
        _ writer: inout Writer
    ) throws(StoreError) -> Bool {
        let number = current.segment.number
        guard let next = try segments.segment(number + 1) else {
            // Given up by others before it was seen here: where that led cannot be told.
            if let last = try segments.numbers().last, last > number { throw stale() }
            return false
        }
        let end = tail.withLock { $0?.end } ?? current.end
        if let size {
            // It has grown, and may have been sealed, between the two looks.
            if try byteCount(of: current.segment) != size { return true }
            writer.missing = try isDamagedSeal(at: end, to: size, of: current.segment) ? .seal : .records
        }
        // Whoever sealed it need not have waited for it.
        if !writer.isOpening {
            try synchronize(current.segment, upTo: size ?? end)
            forgetNames()
        }
        writer.setSize(size ?? end, of: number)
        writer.isSealed = false
        setTail(next, at: next.headerByteCount ?? 0)
        return true
    }

    /// Whether what is behind the last whole record is a seal that is damaged, and not a record that was cut off.
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

    /// Those who only look wait until ``show()``.
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

    /// Of its key, or what the next record tells of it instead.
    func digest(of record: Record) -> KeyDigest {
        if !record.key.isEmpty { return hashing(record.key) }
        return KeyDigest(high: record.kind == .loss || record.kind == .floor ? record.serial : 0, low: 0)
    }

    /// The slot of a record that is its key's latest; `nil` if another one is, or none.
    func slot(of record: Record, at place: RecordPlace) -> IndexSlot? {
        guard let slot = index.slot(digest(of: record)), slot.place == place else { return nil }
        return slot
    }

    /// Finds out what was lost before a record.
    ///
    /// - Throws: `ESTALE` if that cannot be told: all segments must be gone through from the first one.
    private func checkOrder(_ record: Record, _ place: RecordPlace, _ writer: inout Writer) throws(SystemError) {
        let damage = writer.damage
        let missing = writer.missing
        writer.damage = nil
        writer.missing = nil
        if let damage, !record.isFirst {
            // One record, and whose it was is told here.
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

    /// The latest entry of a key is damaged: whoever fetches it is to find that, not an older one.
    func lose(_ hash: UInt64, _ place: RecordPlace, _ byteCount: Int, _ writer: inout Writer) {
        guard hash != 0 else { return }
        // A floor's is its number, which is not above that of the segment it is in.
        if hash <= UInt64(place.segment) { setFloor(UInt32(hash), &writer) }
        writer.noteChange(hash)
        index.withPart(hash) { table in
            for slot in table.all(hash) { _ = table.remove(hash, slot.place) }
            let digest = KeyDigest(high: hash, low: 0)
            table.insert(IndexSlot(digest, place: place, byteCount: byteCount, deadline: 0, isTagged: true))
        }
    }

    /// Records are missing that may have changed any entry before them.
    private func loseAll(_ writer: inout Writer) throws(SystemError) {
        // What is known already, or from a snapshot, may be of a log that was cut meanwhile and has grown again.
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

    /// What is behind the last record is looked through each time up to here.
    private static var shortByteCount: Int { 1 << 14 }

    /// All segments before this one are gone, or about to go.
    func setFloor(_ number: UInt32, _ writer: inout Writer) {
        guard number > writer.floor, number <= Segment.largestNumber else { return }
        raiseFloor(to: number, &writer)
        index.forEachLoadedPart { table in
            for slot in table.removeAll(where: { $0.place.segment < number }) { writer.noteChange(slot.hash) }
        }
        // Its snapshot was removed with the segment of its position, and gives its blocks back when it is closed.
        if let position = writer.snapshotPosition, position.segment < number { index.loadAll() }
    }

    /// As above, where the index says so already.
    func raiseFloor(to number: UInt32, _ writer: inout Writer) {
        writer.floor = number
        shared.floor.store(number, ordering: .relaxed)
        // Whoever gave them up may have been killed before they were removed.
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
