/// How the bytes of a store with a limit are divided: entries, and the room that making room takes itself.
struct SpaceBudget: Sendable {
    private let byteLimit: Int?

    init(_ settings: StoreSettings) { byteLimit = settings.byteLimit }

    /// The bytes that making room takes itself: entries that are kept, a seal, the header of another segment, and a
    /// floor.
    func upkeepByteCount(of log: SegmentLog) -> Int {
        let longest = SegmentHeader.byteCount(
            withDictionaryOf: dictionaryByteLimit(of: log),
            isSealed: log.reader.isSealed
        )
        let headerByteCount = max(log.headerByteCount, longest)
        return carriedByteLimit(of: log) + 2 * Record.largestFieldsByteCount + headerByteCount
    }

    /// The most bytes of one segment's entries in use that are written again when it is reclaimed: all of them, but where segments
    /// are short, since room for as many is kept free.
    func carriedByteLimit(of log: SegmentLog) -> Int {
        let size = log.segmentByteCount
        return size < Self.shortSegmentByteCount ? size / 2 : size
    }

    private static let shortSegmentByteCount = 1 << 14

    /// The most bytes of entries in use that are written again without as many bytes of new ones.
    var carriedAheadByteLimit: Int { (byteLimit ?? 0) / 2 }

    /// The most bytes of a dictionary in the header of every segment; 0 where these are short.
    func dictionaryByteLimit(of log: SegmentLog) -> Int {
        let limit = min(PresetDictionary.largestByteCount, log.segmentByteCount / 16)
        return limit < 1 << 10 ? 0 : limit
    }

    /// The most bytes that one record may have, if no other is left; `nil` without a limit.
    func recordByteLimit(of log: SegmentLog) -> Int? {
        byteLimit.map { $0 - upkeepByteCount(of: log) - log.headerByteCount }
    }

    /// The bytes that the segments may grow by so that room is left to give some up; negative if they have too many.
    func freeByteCount(of log: SegmentLog) -> Int {
        guard byteLimit != nil else { return .max }
        return byteLimitWithUpkeep(of: log) - log.chain.byteCount
    }

    /// Whether records of `byteCount` bytes can be appended so that room is left to give segments up.
    func fits(_ byteCount: Int, in log: SegmentLog) -> Bool {
        guard byteLimit != nil else { return true }
        return log.growth(toAppend: byteCount) <= freeByteCount(of: log)
    }

    /// The most bytes that all segments may have so that room is left to give some up.
    private func byteLimitWithUpkeep(of log: SegmentLog) -> Int {
        byteLimit.map { max(0, $0 - upkeepByteCount(of: log)) } ?? .max
    }

    /// How many bytes of a segment that is dropped can be rewritten before its file goes.
    func roomToCarry(in log: SegmentLog) -> Int {
        guard let byteLimit else { return .max }
        return max(0, byteLimit - log.chain.byteCount - log.headerByteCount - 2 * Record.largestFieldsByteCount)
    }

    /// The entries to keep of the first segment, if it is to be dropped before a save needs its room; `nil` if not.
    ///
    /// Where segments are short, none is: giving one up delays no caller, and takes nearly as much room as it frees.
    ///
    /// Without a limit, a segment is dropped, and all its live entries are rewritten, where less than half of all
    /// bytes are live. With a limit, one is dropped as soon as less than one and a half segments' length is free. If the live
    /// entries take no more than half of the limit, and the free bytes take all of the first segment, all its live
    /// entries are rewritten, which in the long run frees as much as it writes; otherwise the used
    /// ones are, as far as the reclaimer's allowance goes.
    func headroomPolicy(of log: SegmentLog) -> CarryOverPolicy? {
        let total = log.chain.byteCount
        let size = log.segmentByteCount
        guard size >= Self.shortSegmentByteCount else { return nil }
        let used = log.index.slots.total.byteCount
        guard byteLimit != nil else { return total > 2 * used + size ? .all : nil }
        let limit = byteLimitWithUpkeep(of: log)
        guard total > limit - size * 3 / 2 else { return nil }
        let free = max(0, limit - total)
        let first = log.chain.first.map { log.chain.byteCount(of: $0) } ?? 0
        return used <= limit / 2 && first <= free ? .all : .used(byteCount: carriedByteLimit(of: log))
    }
}
