#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The reserve is a file of blocks that nobody uses, kept where little of a volume is free and nothing may be given up.
///
/// On a full volume, the room of what was removed is to be had only after the rest of its segment was written anew, and
/// that takes room first. Changed only while the log is locked, so that no process takes away what another one made.
extension PackedLog {
    static var reserveFileName: String { "reserve" }

    /// Makes the reserve where little is free, and removes it where much is; once for each segment that is begun.
    func keepReserve(at place: RecordPlace, _ writer: inout Writer) {
        guard place.segment != writer.reservedAt else { return }
        writer.reservedAt = place.segment
        // What cannot be done is tried again with the next segment.
        _ = Result { () throws(StoreError) in
            let former = try reserveByteCount()
            writer.reserveGoal = former
            let needed = neededReserveByteCount(writer)
            let free = try freeByteCount() + former
            // Left by a store without limits, or when less was free.
            if settings.isLimited || free / Self.plenty > needed {
                if former > 0 { try removeReserve() }
                writer.reserveGoal = 0
            } else if needed > former, free > needed {
                writer.reserveGoal = try makeReserve(needed, orAtLeast: former)
            }
        }
    }

    /// Makes the reserve again that was taken to give up a segment, whose file is closed by now.
    ///
    /// - Parameter former: how long it was.
    func restoreReserve(_ former: Int, _ writer: inout Writer) {
        if settings.isLimited { return }
        _ = Result { () throws(StoreError) in
            let present = try reserveByteCount()
            let free = try freeByteCount() + present
            let needed = neededReserveByteCount(writer)
            if free / Self.plenty > needed { return }
            // What became free is not for a longer one, unless there is much of it; but if it could not be made as long as
            // it was, half is for that.
            let repaired = max(former, min(writer.reserveGoal, (former + free) / 2))
            let wanted = free / 2 > needed ? max(needed, repaired) : repaired
            let least = Self.leastReserved + besidesRest
            if wanted > present, wanted >= least { _ = try makeReserve(wanted, orAtLeast: least) }
        }
    }

    /// For the entries of a segment, and the start of another one.
    private func neededReserveByteCount(_ writer: borrowing Writer) -> Int {
        let largest = min(writer.sizes.values.max() ?? 0, Self.largestSegmentByteCount)
        return max(largest, segmentByteCount(writer)) + besidesRest
    }

    /// The header of another segment, a seal, a floor, and blocks that are begun.
    private var besidesRest: Int { headerByteCount + 4 * Segment.blockByteCount }

    /// A shorter reserve than is good for that is of no use.
    private static var leastReserved: Int { 1 << 16 }

    /// Appends a removal, on a full volume with the room of a part of the reserve.
    func appendWithReserve(_ removal: inout RecordDraft, _ writer: inout Writer) throws(StoreError) {
        do throws(StoreError) {
            _ = try append(&removal, takesSerial: false, &writer)
        } catch {
            guard error.isOutOfSpace, try shortenReserve() else { throw error }
            _ = try append(&removal, takesSerial: false, &writer)
        }
    }

    /// Gives back a part of the reserve, unless the rest would be too short to be of use; says whether it did.
    private func shortenReserve() throws(StoreError) -> Bool {
        let rest = try reserveByteCount() - Self.leastReserved
        guard rest >= 2 * Self.leastReserved + besidesRest else { return false }
        do throws(SystemError) {
            let file = try root.fileForUpdate(Self.reserveFileName)
            guard try file.status().isRegular else { return false }
            try file.truncate(to: rest)
        } catch {
            throw StoreError(error, path: path + "/" + Self.reserveFileName, action: "taking the reserve")
        }
        return true
    }

    /// How many times the reserve must be free for there to be none.
    private static var plenty: Int { 32 }

    /// How long the reserve is, as far as it has blocks; 0 if there is none.
    func reserveByteCount() throws(StoreError) -> Int {
        do {
            guard let status = try root.status(Self.reserveFileName), status.isRegular else { return 0 }
            // No store makes a longer one.
            return max(0, min(status.byteCount, status.allocatedByteCount, 2 * Self.largestSegmentByteCount))
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

    /// - Parameter least: what is tried last if there is no room for more: rather a short one than none.
    /// - Returns: how long it is.
    private func makeReserve(_ byteCount: Int, orAtLeast least: Int) throws(StoreError) -> Int {
        try removeReserve()
        var byteCount = byteCount
        while byteCount > 0 {
            do throws(SystemError) {
                try makeReserveFile(byteCount)
                return byteCount
            } catch {
                guard error.number == ENOSPC, byteCount > least else {
                    throw StoreError(error, path: path + "/" + Self.reserveFileName, action: "making the reserve")
                }
                // In small steps: a block that is missing costs a block, mostly.
                byteCount = max(least, byteCount - byteCount / 32)
            }
        }
        return 0
    }

    private func makeReserveFile(_ byteCount: Int) throws(SystemError) {
        let file = try root.makeFile(Self.reserveFileName)
        do throws(SystemError) {
            try file.allocate(byteCount)
        } catch {
            try root.remove(Self.reserveFileName)
            throw error
        }
    }

    func removeReserve() throws(StoreError) {
        do {
            try root.remove(Self.reserveFileName)
        } catch {
            throw StoreError(error, path: path + "/" + Self.reserveFileName, action: "taking the reserve")
        }
    }
}
