import Foundation

extension PackedStore {
    /// Makes room before it is needed, and writes the index now and then, in the background.
    func keepUp(_ log: PackedLog) {
        guard log.needsUpkeep, !isUpkeepDue.exchange(true, ordering: .relaxed) else { return }
        // Not captured weakly: one weak reference would make every other one slower.
        StoreUsage.start(on: upkeep) { [self] in
            isUpkeepDue.store(false, ordering: .relaxed)
            guard let log = current else { return }
            // A failure is ignored: a save that needs the room makes it, or reports the error.
            _ = Result { () throws(StoreError) in try self.makeHeadroom(log) }
            _ = Result { () throws(StoreError) in
                // The snapshot gets a copy of the dictionary, so that no byte that many entries need is in one place
                // only.
                if try log.renewDictionary(limit: self.maximumArchiveByteCount) { return try log.writeSnapshot() }
                try log.writeSnapshotIfDue()
            }
        }
    }

    /// Waits until nothing is left to do in the background, for tests.
    func finishUpkeep() {
        upkeep.sync {}
    }

    /// The most segments that are given up in one run: the next run continues.
    private static var mostSegments: Int { 8 }

    private func makeHeadroom(_ log: PackedLog) throws(StoreError) {
        for _ in 0..<Self.mostSegments {
            guard try log.looking({ log.headroom($0) }) != nil else { return }
            try log.readFirstSegment()
            try spareInUse(in: log)
            var departed = Departed()
            defer { tell(departed) }
            let isDone = try log.changing { writer throws(StoreError) -> Bool in
                // Other callers may have made room, or used it, meanwhile.
                guard let keeping = log.headroom(writer) else { return true }
                // The time is known from saves only.
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

    /// The entries to keep of the first segment, if it is to be given up now; `nil` if not.
    ///
    /// With a limit, a segment is given up before the limit is reached. Where less than half of all bytes are live, all
    /// live entries are written anew, which in the long run frees as much as it writes; otherwise the used ones are, up
    /// to half of a segment. Without a limit, a segment is given up where less than half of all bytes are live.
    func headroom(_ writer: borrowing Writer) -> Keeping? {
        let total = byteCount(writer)
        let size = segmentByteCount(writer)
        // Giving up a short segment delays no caller, and takes nearly as much room as it frees.
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

    /// Reads the first segment once, so that no caller has to wait for the device when it is given up.
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
