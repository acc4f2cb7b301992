import Foundation

extension PackedStore {
    /// Has room made before it is needed, and the index written now and then, in the background.
    func keepUp(_ log: PackedLog) {
        guard log.needsUpkeep, !isUpkeepDue.exchange(true, ordering: .relaxed) else { return }
        // Not weakly: one weak reference would make every other one slower.
        upkeep.async { [self] in
            isUpkeepDue.store(false, ordering: .relaxed)
            guard let log = current else { return }
            // What cannot be done now is done, or told, when a save needs the room.
            _ = Result { () throws(StoreError) in try self.makeHeadroom(log) }
            _ = Result { () throws(StoreError) in
                // With a copy of the dictionary in the snapshot, no byte is in one place only that many entries need.
                if try log.renewDictionary(limit: self.maximumArchiveByteCount) { return try log.writeSnapshot() }
                try log.writeSnapshotIfDue()
            }
        }
    }

    /// Waits until nothing is left to do in the background, for tests.
    func finishUpkeep() {
        upkeep.sync {}
    }

    /// How many segments are gone through each time: what is not done then is done the next time.
    private static var mostSegments: Int { 8 }

    private func makeHeadroom(_ log: PackedLog) throws(StoreError) {
        for _ in 0..<Self.mostSegments {
            guard try log.looking({ log.headroom($0) }) != nil else { return }
            try log.readFirstSegment()
            try spareInUse(in: log)
            var departed = Departed()
            defer { tell(departed) }
            let isDone = try log.changing { writer throws(StoreError) -> Bool in
                // Others may have made room, or used it, meanwhile.
                guard let keeping = log.headroom(writer) else { return true }
                // What time it is is known from saves only.
                let now = settings.isLimited ? writer.savedAt : nil
                return try !log.reclaimFirst(keeping, now: now, &departed, &writer)
            }
            if isDone { return }
        }
    }
}

extension PackedLog {
    /// Looks at a few numbers: whether ``headroom(_:)``, a snapshot or a dictionary may be due.
    var needsUpkeep: Bool {
        if takesDictionary { return true }
        guard let number = tail.withLock({ $0?.segment.number }) else { return false }
        return shared.upkeptSegment.exchange(number, ordering: .relaxed) != number
    }

    /// Whether the first segment is to be given up now, and what of it is kept; `nil` if not.
    ///
    /// With a limit, before it is reached: where less than half of all bytes are of use, everything that is of use is
    /// written anew, for that frees as much as it writes in the long run; else what was used, and no more than half of
    /// a segment. Without one, where less than half of all bytes are of use.
    func headroom(_ writer: borrowing Writer) -> Keeping? {
        let total = byteCount(writer)
        let size = segmentByteCount(writer)
        // Giving up a short one keeps nobody waiting, and takes nearly as much room as it gives.
        guard size >= 1 << 14 else { return nil }
        let used = index.total.byteCount
        guard settings.byteLimit != nil else {
            return total > 2 * used + size ? .all : nil
        }
        let limit = byteLimit(writer)
        guard total > limit - 2 * size else { return nil }
        let free = max(0, limit - total)
        let first = firstSegment(writer).map { self.size($0, writer) } ?? 0
        return used <= limit / 2 && first <= free ? .all : .used(byteCount: mostKept(writer))
    }

    /// Reads the first segment once, so that nobody has to wait for the device when it is given up.
    func readFirstSegment() throws(StoreError) {
        let number = try looking { firstSegment($0) }
        guard let number, let segment = try segments.segment(number) else { return }
        do throws(SystemError) {
            var offset = 0
            while case let count = try segment.file.read(1 << 18, at: offset).count, count > 0 { offset += count }
        } catch {
            throw StoreError(error, path: segments.path(number), action: "making room")
        }
    }
}
