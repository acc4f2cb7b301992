#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Making room for a save, where the volume is full, or has to have something free.
extension PackedStore {
    /// Runs `body` to change the log after making room for `byteCount` bytes; if the volume turns out to be full, again
    /// after each way of making more.
    func withRoom<Result: Sendable>(
        for byteCount: Int,
        _ digest: KeyDigest,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed,
        _ body: (inout PackedLog.Writer, inout Departed) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        if settings.isLimited {
            try makeFreeSpace(for: byteCount, now: now, in: log, &departed)
            try prepareRoom(for: byteCount, digest, now: now, in: log)
        }
        var failure: StoreError
        do throws(StoreError) {
            return try log.changing { writer throws(StoreError) in try body(&writer, &departed) }
        } catch {
            guard error.isOutOfSpace else { throw error }
            failure = error
        }
        for means in SpaceMeans.allCases {
            var isMore = true
            for _ in 0..<Self.mostTries where isMore {
                // One caller at a time: the others find the room that it made, or that it is not enough.
                isMore = try squeezing.withLock { _ throws(StoreError) in
                    try makeSpace(by: means, for: byteCount, now: now, in: log, &departed)
                }
                do throws(StoreError) {
                    return try log.changing { writer throws(StoreError) in try body(&writer, &departed) }
                } catch {
                    guard error.isOutOfSpace else { throw error }
                    failure = error
                }
            }
        }
        throw failure
    }

    /// How often room is made for one save in the same way, since other callers may take it.
    private static var mostTries: Int { 4 }

    /// How room is made where the volume is full, in this order.
    private enum SpaceMeans: CaseIterable {
        /// The blocks of dead records are given back.
        case blocks
        /// Segments are given up, and their live entries written anew.
        case segments
        /// Entries are given up.
        case entries
    }

    /// Makes room in one way; returns whether there may be more to be had in this way.
    private func makeSpace(
        by means: SpaceMeans,
        for byteCount: Int,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        let byteCount = byteCount * 2 + Self.spareByteCount
        switch means {
        case .blocks:
            // A failure does not keep the other ways from being tried.
            let result = Result { () throws(StoreError) in try punch(byteCount, outOf: log) }
            return (try? result.get()) ?? false
        case .segments:
            let result = Result { () throws(StoreError) in try squeeze(byteCount, outOf: log, &departed) }
            return (try? result.get()) ?? false
        case .entries:
            guard settings.isLimited else { return false }
            return try giveUp(atLeast: byteCount, now: now, in: log, &departed)
        }
    }

    /// Gives back the blocks of dead records in one segment after another, until `byteCount` bytes more are free.
    ///
    /// - Returns: whether it ended before all was done.
    private func punch(_ byteCount: Int, outOf log: PackedLog) throws(StoreError) -> Bool {
        let numbers = try log.changing { writer throws(StoreError) in try log.segmentsToPunch(&writer) }
        let goal = try log.freeByteCount() + byteCount
        for number in numbers {
            // Other callers get their turn in between.
            try log.changing { writer throws(StoreError) in try log.punchDead(number, &writer) }
            if try log.freeByteCount() >= goal { return number != numbers.last }
        }
        return false
    }

    /// Gives up one segment after another and keeps all entries, until `byteCount` bytes more are free, or all dead
    /// records are gone.
    ///
    /// - Returns: whether it ended before all was gone.
    private func squeeze(
        _ byteCount: Int,
        outOf log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        let count = try log.looking { writer throws(StoreError) in try log.segmentsToSqueeze(&writer) }
        guard count > 0 else { return false }
        let goal = try log.freeByteCount() + byteCount
        for _ in 0..<count {
            // Other callers get their turn in between.
            guard try squeezeFirst(of: log, &departed) else { break }
            if try log.freeByteCount() >= goal { return true }
        }
        try log.looking { writer throws(StoreError) in try log.endSqueeze(&writer) }
        return false
    }

    /// Gives up the first segment and keeps all entries, with the room of the reserve; returns whether there was one.
    func squeezeFirst(of log: PackedLog, _ departed: inout Departed) throws(StoreError) -> Bool {
        var reserve = 0
        let result = Result { () throws(StoreError) in
            try log.changing { writer throws(StoreError) in
                try log.squeezeFirst(taking: &reserve, &departed, &writer)
            }
        }
        // The file is closed, and has given its room back, only now that the lock was given back.
        try log.changing { log.restoreReserve(reserve, $0) }
        return try result.get()
    }

    /// The bytes to free beyond the needed ones where the volume turns out to be full.
    private static var spareByteCount: Int { 1 << 16 }

    /// Gives up entries until enough of the volume stays free with `byteCount` bytes more.
    ///
    /// - Throws: `.io` with `ENOSPC` if nothing is left to give up.
    private func makeFreeSpace(
        for byteCount: Int,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) {
        guard settings.minimumFreeByteCount > 0 else { return }
        func shortage() throws(StoreError) -> Int {
            let (needed, overflow) = settings.minimumFreeByteCount.addingReportingOverflow(byteCount)
            return (overflow ? .max : needed) - (try log.freeByteCount())
        }
        while case let shortage = try shortage(), shortage > 0 {
            guard try giveUp(atLeast: shortage, now: now, in: log, &departed) else {
                throw StoreError(SystemError(number: ENOSPC), path: path, action: "saving an archive")
            }
        }
    }

    /// Gives up segments of `byteCount` bytes together; returns whether any entries went with them.
    private func giveUp(
        atLeast byteCount: Int,
        now: Double,
        in log: PackedLog,
        _ departed: inout Departed
    ) throws(StoreError) -> Bool {
        let former = log.index.total
        guard former.count > 0 else { return false }
        try log.changing { writer throws(StoreError) in
            let enough = log.byteCount(writer) - byteCount
            while log.byteCount(writer) > max(enough, 0), log.index.total.count > 0,
                try log.reclaimFirst(.used(byteCount: 0), now: now, &departed, &writer)
            {}
        }
        return log.index.total.count < former.count
    }
}
