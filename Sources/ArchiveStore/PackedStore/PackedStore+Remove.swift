import Foundation

extension PackedStore {
    /// Implementation: a removal record is appended.
    @discardableResult
    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let (key, digest) = try self.key(key)
        return try removing(key, digest) { _ in true } != nil
    }

    /// Implementation: as ``remove(forKey:)``.
    @discardableResult
    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let (key, digest) = try self.key(entry.key)
        return try removing(key, digest) { $0.identity == entry.identity } != nil
    }

    private func removing(
        _ key: StoreKey,
        _ digest: KeyDigest,
        where isChosen: (EntryInformation) -> Bool
    ) throws(StoreError) -> Bool? {
        try reading { log throws(StoreError) in
            guard let end = try appendRemoval(key, digest, in: log, where: isChosen) else { return nil }
            try log.synchronize(upTo: end)
            keepUp(log)
            return true
        }
    }

    /// Removes the entry of a key if it is chosen, and does not wait for the device.
    ///
    /// - Returns: the place up to which the log must be on the device; `nil` if nothing was removed.
    func appendRemoval(
        _ key: StoreKey,
        _ digest: KeyDigest,
        in log: PackedLog,
        where isChosen: (EntryInformation) -> Bool = { _ in true }
    ) throws(StoreError) -> RecordPlace? {
        // No lock is taken where there is no entry.
        guard log.index.slot(digest) != nil else { return nil }
        var end = log.end
        var departed = Departed()
        defer { tell(departed) }
        let isRemoved = try log.changing { writer throws(StoreError) -> Bool in
            defer { end = log.end }
            let found: PackedLog.Found?
            do throws(StoreError) {
                found = try log.find(key, digest, .head, &writer)
            } catch {
                guard error.code == .corrupted else { throw error }
                found = nil
                // The damaged entry may have been this key's: after a removal, a fetch must not report it.
                try log.removeDamaged(digest.high, &departed, &writer)
                return true
            }
            guard let found, isChosen(information(found, key.string, log)) else { return false }
            if try !log.remove(found.record.key, digest, now: nil, &departed, &writer) {
                // Given up to make room for the removal, the entry counts as removed, not evicted.
                departed.evicted.removeAll { $0.key == key.string }
            }
            return true
        }
        return isRemoved ? end : nil
    }

    /// Implementation: another segment is begun, and those before it are deleted.
    package func removeAll() throws(StoreError) {
        _ = try reading { log throws(StoreError) -> Void? in
            try log.changing { writer throws(StoreError) in
                if try log.hasRecords(writer) { try log.removeAll(&writer) }
            }
        }
    }

    /// Implementation: every index slot in memory is checked; only entries that may be due are read.
    package func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        let now = date.timeIntervalSinceReferenceDate
        let seconds = UInt32(min(max(0, now), Double(UInt32.max - 1)))
        _ = try reading { log throws(StoreError) -> Void? in
            var next = UInt32.max
            // Entries saved meanwhile lower `nextDeadline`.
            let former = try log.looking { writer in
                defer { writer.nextDeadline = .max }
                return writer.nextDeadline
            }
            var isDone = false
            // Entries that could not be removed are looked for again.
            defer { if !isDone { log.writer.withLock { $0.nextDeadline = min($0.nextDeadline, former) } } }
            try removeEntries(of: log, removed: removed) { slot in
                if slot.deadline <= seconds { return true }
                next = min(next, slot.deadline)
                return false
            } where: { entry in
                guard let end = entry.attributes.usableUntil else { return false }
                if end <= date { return true }
                next = min(next, Record.deadline(entry.attributes))
                return false
            }
            try log.looking { $0.nextDeadline = min($0.nextDeadline, next) }
            isDone = true
        }
    }

    /// Implementation: as ``removeExpired(at:removed:)``.
    package func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        _ = try reading { log throws(StoreError) -> Void? in
            try removeEntries(of: log, removed: removed) {
                $0.isTagged
            } where: { entry in
                guard entry.attributes.has(tag: tag) else { return false }
                removing(entry)
                return true
            }
        }
    }

    /// How many entries are removed at a time, while other callers wait.
    private static var batch: Int { 64 }

    /// Removes entries: chooses candidates by their index slots, then entries by their records.
    private func removeEntries(
        of log: PackedLog,
        removed: (EntryInformation) -> Void,
        candidates isCandidate: (IndexSlot) -> Bool,
        where isChosen: (EntryInformation) -> Bool
    ) throws(StoreError) {
        var failure: StoreError?
        var isChanged = false
        for part in 0..<PackedIndex.partCount {
            var candidates: [IndexSlot] = []
            log.index.withPart(number: part) { table in
                table.forEachSlot { if isCandidate($0) { candidates.append($0) } }
            }
            var rest = candidates.sorted { $0.place < $1.place }[...]
            while !rest.isEmpty {
                do throws(StoreError) {
                    let batch = rest.prefix(Self.batch)
                    rest = rest.dropFirst(Self.batch)
                    var gone: [EntryInformation] = []
                    var departed = Departed()
                    // Removed entries are reported even if others cannot be removed.
                    defer {
                        isChanged = isChanged || !gone.isEmpty
                        gone.forEach(removed)
                        tell(departed)
                    }
                    try log.remove(batch, where: isChosen, &gone, &departed)
                } catch {
                    failure = failure ?? error
                }
            }
        }
        if isChanged { try log.synchronize() }
        if let failure { throw failure }
        try log.checkIndex()
    }

    /// Implementation: every record is read.
    @discardableResult
    package func removeDamagedEntries() throws(StoreError) -> Int {
        try reading { log throws(StoreError) -> Int? in
            var count = 0
            for part in 0..<PackedIndex.partCount {
                for slot in log.slots(inPart: part) {
                    do throws(StoreError) {
                        guard let found = try log.readOrFollow(slot, .whole) else { continue }
                        _ = try log.archive(of: found.record, found.bytes, limit: Zlib.largestByteCount)
                    } catch {
                        if error.code == .tooLarge { continue }
                        guard error.code == .corrupted else { throw error }
                        var departed = Departed()
                        defer { tell(departed) }
                        count += try log.removeDamaged(slot.hash, &departed)
                    }
                }
            }
            if count > 0 { try log.synchronize() }
            try log.checkIndex()
            return count
        } ?? 0
    }
}

extension PackedLog {
    /// The slots of a part, in the order of their places.
    func slots(inPart part: Int) -> [IndexSlot] {
        var slots: [IndexSlot] = []
        index.withPart(number: part) { $0.forEachSlot { slots.append($0) } }
        return slots.sorted { $0.place < $1.place }
    }
}
