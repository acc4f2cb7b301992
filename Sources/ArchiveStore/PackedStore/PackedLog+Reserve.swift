#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The reserve is a file of unused blocks, kept where little of a volume is free and no entry may be given up.
///
/// On a full volume, the room of removed entries can be had only after the rest of their segment was written anew,
/// which takes room first. The reserve is changed only while the log is locked, so that no process takes away the
/// reserve that another one made.
extension PackedLog {
    static var reserveFileName: String { "reserve" }

    /// Makes the reserve where little is free, and removes it where much is; once for each segment that is begun.
    func keepReserve(at place: RecordPlace, _ writer: inout Writer) {
        guard place.segment != writer.reservedAt else { return }
        writer.reservedAt = place.segment
        // A failure is ignored: the next segment tries again.
        _ = Result { () throws(StoreError) in
            let former = try reserveByteCount()
            guard let wanted = try wantedReserve(former, writer) else {
                // The reserve was left by a store without limits, or when less was free.
                if try reserveGoal() > 0 { try removeReserve() }
                return
            }
            // Only in steps as large as removals take: a few blocks are not worth it.
            if wanted >= former + Self.leastReserved { try makeReserve(wanted) }
        }
    }

    /// Makes the reserve again that was taken to give up a segment. The segment's file is closed by now.
    ///
    /// - Parameter former: how long it was.
    func restoreReserve(_ former: Int, _ writer: borrowing Writer) {
        if settings.isLimited { return }
        _ = Result { () throws(StoreError) in
            guard let wanted = try wantedReserve(former, writer), try wanted > reserveByteCount() else { return }
            try makeReserve(wanted)
        }
    }

    /// The wanted length of the reserve; `nil` if none is needed.
    ///
    /// It grows only where twice as much is free as the longer one takes: otherwise freed room would go to the reserve,
    /// not to entries. It gets back the room that removals took or that was missing when it was made, but no more than
    /// half of the free room at once.
    ///
    /// - Parameter former: how long it was before its room was used.
    private func wantedReserve(_ former: Int, _ writer: borrowing Writer) throws(StoreError) -> Int? {
        let needed = neededReserveByteCount(writer)
        let free = try freeByteCount() + reserveByteCount()
        if settings.isLimited || free / Self.plenty > needed { return nil }
        if free / 2 > needed { return max(needed, former) }
        let goal = try reserveGoal()
        return min(free, max(former, min(goal > 0 ? goal : needed, (former + free) / 2)))
    }

    /// Bytes for the entries of a segment, and the start of another one.
    private func neededReserveByteCount(_ writer: borrowing Writer) -> Int {
        let largest = min(writer.sizes.values.max() ?? 0, Self.largestSegmentByteCount)
        return max(largest, segmentByteCount(writer)) + besidesRest
    }

    /// The header of another segment, a seal, a floor, and blocks that are begun.
    private var besidesRest: Int { headerByteCount + 4 * Segment.blockByteCount }

    /// The length from which on a reserve, or a change of it, is of use.
    private static var leastReserved: Int { 1 << 16 }

    /// Appends a removal; on a full volume, with the room of a part of the reserve.
    func appendWithReserve(_ removal: inout RecordDraft, _ writer: inout Writer) throws(StoreError) {
        do throws(StoreError) {
            _ = try append(&removal, takesSerial: false, &writer)
        } catch {
            guard error.isOutOfSpace, try shortenReserve() else { throw error }
            _ = try append(&removal, takesSerial: false, &writer)
        }
    }

    /// Gives back a part of the reserve, unless the rest would be too short to be of use; returns whether it did.
    private func shortenReserve() throws(StoreError) -> Bool {
        let rest = try reserveByteCount() - Self.leastReserved
        guard rest >= 2 * Self.leastReserved + besidesRest else { return false }
        do throws(SystemError) {
            let file = try root.fileForUpdate(Self.reserveFileName)
            let status = try file.status()
            guard status.isRegular else { return false }
            try file.truncate(to: rest)
            // The file keeps its length, which is the length to restore. It has no blocks there.
            _ = Result { () throws(SystemError) in try file.truncate(to: status.byteCount) }
        } catch {
            throw StoreError(error, path: path + "/" + Self.reserveFileName, action: "taking the reserve")
        }
        return true
    }

    /// No reserve is kept where this many times its length is free.
    private static var plenty: Int { 32 }

    /// How long the reserve is, as far as it has blocks; 0 if there is none.
    func reserveByteCount() throws(StoreError) -> Int {
        try reserveStatus().map { min($0.byteCount, $0.allocatedByteCount) } ?? 0
    }

    /// How long the reserve is to be, which its file tells to all processes; 0 if there is none.
    func reserveGoal() throws(StoreError) -> Int { try reserveStatus()?.byteCount ?? 0 }

    private func reserveStatus() throws(StoreError) -> (byteCount: Int, allocatedByteCount: Int)? {
        do {
            guard let status = try root.status(Self.reserveFileName), status.isRegular else { return nil }
            // No store makes a longer one.
            let most = 2 * Self.largestSegmentByteCount
            return (max(0, min(status.byteCount, most)), min(status.allocatedByteCount, most))
        } catch {
            throw StoreError(error, path: path + "/" + Self.reserveFileName, action: "looking for the reserve")
        }
    }

    func freeByteCount() throws(StoreError) -> Int {
        do {
            return try root.freeByteCount()
        } catch {
            throw StoreError(error, path: path, action: "looking for free space")
        }
    }

    /// Makes the reserve, or a shorter one where there is no room for all of it.
    private func makeReserve(_ byteCount: Int) throws(StoreError) {
        let goal = max(try reserveGoal(), byteCount)
        try removeReserve()
        var byteCount = byteCount
        while true {
            do throws(SystemError) {
                return try makeReserveFile(byteCount, goal: goal)
            } catch {
                guard error.number == ENOSPC, byteCount > 0 else {
                    throw StoreError(error, path: path + "/" + Self.reserveFileName, action: "making the reserve")
                }
                // In small steps: a block that is missing costs a block, mostly.
                byteCount = max(0, byteCount - max(byteCount / 32, Segment.blockByteCount))
            }
        }
    }

    /// Gives back the blocks of the reserve. Its file stays and says how long it is to be again.
    func takeReserve() throws(StoreError) {
        let goal = try reserveGoal()
        try removeReserve()
        _ = Result { () throws(SystemError) in try makeReserveFile(0, goal: goal) }
    }

    private func makeReserveFile(_ byteCount: Int, goal: Int) throws(SystemError) {
        let file = try root.makeFile(Self.reserveFileName)
        do throws(SystemError) {
            if byteCount > 0 { try file.allocate(byteCount) }
            if goal > byteCount { try file.truncate(to: goal) }
        } catch {
            try root.remove(Self.reserveFileName)
            throw error
        }
    }

    private func removeReserve() throws(StoreError) {
        do {
            try root.remove(Self.reserveFileName)
        } catch {
            throw StoreError(error, path: path + "/" + Self.reserveFileName, action: "taking the reserve")
        }
    }
}
