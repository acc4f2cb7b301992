import Synchronization

/// The result of looking for a key in a part of an index that is not loaded.
struct IndexLook: Sendable {
    /// `nil`: the part has none for the key.
    let slot: IndexSlot?
}

/// The places of all entries, in parts by hash that are loaded when they are needed again.
///
/// Loading a part reads a few KiB of the snapshot under the part's lock; all other work under it is in memory only.
final class PackedIndex: Sendable {
    static let partCount = 256

    /// Where parts come from that are not loaded. A type of its own: a mutex that holds a function wraps it once more with
    /// each look at it.
    struct Source: Sendable {
        /// Gives the slots of a part for the first time.
        let table: @Sendable (_ part: Int) -> IndexTable
        /// Looks for a key without loading its part; `nil`: the part has to be loaded.
        var look: @Sendable (_ digest: KeyDigest) -> IndexLook? = { _ in nil }
        /// Lists the slots of a part in the order of their places without loading it; `nil`: it has to be loaded.
        var list: @Sendable (_ part: Int) -> [IndexSlot]? = { _ in nil }
        /// The number of entries of all parts when it was written.
        var count = 0
    }

    /// The number of look-ups after which a part is loaded whole: a program that reads few entries needs none of
    /// the tables.
    private static let mostLooks = 2

    private let parts: IndexParts
    /// `nil` once every part is loaded, so that a snapshot that was removed gives its blocks back.
    private let source: RankedMutex<Source?>
    private let formerCount: Int
    // Sums over the loaded parts.
    private let countOfLoaded = Atomic<Int>(0)
    private let byteCountOfLoaded = Atomic<Int>(0)

    /// - Parameter source: where parts come from; `nil`: they are empty.
    init(source: Source? = nil) {
        self.source = RankedMutex(source, rank: PackedLocks.indexSource)
        #if DEBUG
            isOfRecords = source == nil
        #endif
        hasLoadedAll.store(source == nil, ordering: .relaxed)
        formerCount = source?.count ?? 0
        parts = IndexParts(count: Self.partCount, areLoaded: source == nil)
    }

    static func part(_ hash: UInt64) -> Int { Int(hash >> (KeyDigest.hashBitCount - 8)) }

    /// Runs `body` with the part that holds a hash, under that part's lock.
    func withPart<Result>(_ hash: UInt64, _ body: (inout IndexTable) -> Result) -> Result {
        withPart(number: Self.part(hash), body)
    }

    func withPart<Result>(number: Int, _ body: (inout IndexTable) -> Result) -> Result {
        parts.withLock(number) { state in
            // The counts that the sums include already.
            let known = state.table.map { ($0.count, $0.byteCount) } ?? (0, 0)
            // Taken out in the meantime, so that a change does not copy its array.
            var loaded = state.table.take() ?? load(number, state.uses)
            state.uses = []
            defer {
                count(loaded, since: known)
                state.table = loaded
            }
            return body(&loaded)
        }
    }

    /// Runs `body` with a part as it is. One that was not needed until now is read for this call and not kept: it has not
    /// changed since the snapshot, and a look at all parts takes the memory of one.
    private func peekPart(number: Int, _ body: (borrowing IndexTable) -> Void) {
        parts.withLock(number) { state in
            let peeked = state.table ?? load(number, state.uses)
            body(peeked)
        }
    }

    private func load(_ number: Int, _ uses: [IndexSlot]) -> IndexTable {
        let source = source.withLock { $0 }
        var table = source?.table(number) ?? IndexTable()
        for slot in uses { table.use(slot.hash, slot.place) }
        return table
    }

    private func count(_ table: borrowing IndexTable, since known: (count: Int, byteCount: Int)) {
        if table.count != known.count { countOfLoaded.add(table.count - known.count, ordering: .relaxed) }
        if table.byteCount != known.byteCount {
            byteCountOfLoaded.add(table.byteCount - known.byteCount, ordering: .relaxed)
        }
    }

    private let hasLoadedAll = Atomic<Bool>(false)

    /// Loads the parts that were not needed yet.
    func loadAll() {
        if hasLoadedAll.load(ordering: .relaxed) { return }
        for number in parts.indices { withPart(number: number) { _ in } }
        endLoading()
    }

    private func endLoading() {
        hasLoadedAll.store(true, ordering: .relaxed)
        // The snapshot's file is closed outside of the lock.
        let source = source.withLock { $0.take() }
        _ = consume source
    }

    /// The number of entries, and the bytes of all their records.
    var total: (count: Int, byteCount: Int) {
        loadAll()
        return (loadedCount, byteCountOfLoaded.load(ordering: .relaxed))
    }

    /// As ``total``, but keeps no part that was not needed until now.
    var peekedTotal: (count: Int, byteCount: Int) {
        var total = (count: 0, byteCount: 0)
        for number in parts.indices {
            peekPart(number: number) { table in
                total.count += table.count
                total.byteCount += table.byteCount
            }
        }
        return total
    }

    /// The number of entries; `nil` if some parts were not needed until now.
    var knownCount: Int? { hasLoadedAll.load(ordering: .relaxed) ? loadedCount : nil }

    /// The number of entries, or about so many: parts that were not needed until now count as they were in the snapshot.
    var aboutCount: Int { knownCount ?? formerCount }

    /// The number of entries in the parts that were needed until now.
    var loadedCount: Int { countOfLoaded.load(ordering: .relaxed) }

    #if DEBUG
        /// Whether this process has read the records of all slots: an index file may name any place.
        let isOfRecords: Bool

        /// The bytes of the records of the entries in the parts that were needed until now.
        var loadedByteCount: Int { byteCountOfLoaded.load(ordering: .relaxed) }

        /// Gives the slots of the parts that were needed until now.
        func forEachLoadedSlot(_ body: (IndexSlot) -> Void) {
            for number in parts.indices { parts.withLock(number) { $0.table?.forEachSlot(body) } }
        }
    #endif

    /// Removes the slots of segments before one. The source of parts that are not loaded must leave them out by now.
    ///
    /// - Parameter body: is given each of these slots that the index has, or had found for a caller without loading its part.
    func removeSegments(before segment: UInt32, _ body: (IndexSlot) -> Void) {
        for number in parts.indices {
            parts.withLock(number) { state in
                state.found.removeAll { slot in
                    let isGone = slot.place.segment < segment
                    if isGone { body(slot) }
                    return isGone
                }
                guard var loaded = state.table.take() else { return }
                let known = (loaded.count, loaded.byteCount)
                for slot in loaded.removeAll(where: { $0.place.segment < segment }) { body(slot) }
                count(loaded, since: known)
                state.table = loaded
            }
        }
    }

    func forEachPart(_ body: (inout IndexTable) -> Void) {
        for number in parts.indices { withPart(number: number, body) }
        if !hasLoadedAll.load(ordering: .relaxed) { endLoading() }
    }

    /// The slot of a key: the one with its digest; if there is none, one that may be the key's.
    func slot(_ digest: KeyDigest) -> IndexSlot? {
        let look = parts.withLock(Self.part(digest.high)) { state -> IndexLook? in
            if state.table != nil { return IndexLook(slot: state.table?.slot(digest)) }
            guard state.looks < Self.mostLooks else { return nil }
            state.looks += 1
            let source = source.withLock { $0 }
            let look = source?.look(digest)
            if let slot = look?.slot { state.found.append(slot) }
            return look
        }
        if let look { return look.slot }
        return withPart(digest.high) { $0.slot(digest) }
    }

    /// Replaces the slot of the same key, or adds the slot if there is none.
    func set(_ slot: IndexSlot) { withPart(slot.hash) { $0.set(slot) } }

    /// Replaces the slot at `former`, if that is still there.
    func replace(_ former: RecordPlace, with slot: IndexSlot) {
        withPart(slot.hash) { _ = $0.replace(former, with: slot) }
    }

    func use(_ slot: IndexSlot) {
        let isNoted = parts.withLock(Self.part(slot.hash)) { state in
            guard state.table == nil else {
                // Where it lies: this changes no sum.
                state.table?.use(slot.hash, slot.place)
                return true
            }
            // No more than looks.
            guard state.uses.count < Self.mostLooks else { return false }
            state.uses.append(slot)
            return true
        }
        if !isNoted { withPart(slot.hash) { $0.use(slot.hash, slot.place) } }
    }

    @discardableResult
    func remove(_ hash: UInt64, _ place: RecordPlace) -> Bool {
        withPart(hash) { $0.remove(hash, place) != nil }
    }

    /// The slots of all keys with a hash.
    func slots(_ hash: UInt64) -> [IndexSlot] { withPart(hash) { $0.all(hash) } }

    /// The slots of a part, in the order of their places.
    ///
    /// - Parameter keepsPart: whether a part that was not needed until now stays in memory.
    func slots(inPart part: Int, keepsPart: Bool = true) -> [IndexSlot] {
        var slots: [IndexSlot] = []
        if keepsPart {
            withPart(number: part) { $0.forEachSlot { slots.append($0) } }
        } else {
            let listed = parts.withLock(part) { state -> [IndexSlot]? in
                guard state.table == nil, state.uses.isEmpty else { return nil }
                let source = source.withLock { $0 }
                return source?.list(part)
            }
            if let listed { return listed }
            peekPart(number: part) { $0.forEachSlot { slots.append($0) } }
        }
        return slots.sorted { $0.place < $1.place }
    }

    /// The bytes of the records of each segment that the index names.
    ///
    /// - Parameter keepsParts: whether parts that were not needed until now stay in memory.
    func byteCountsBySegment(keepsParts: Bool = true) -> [UInt32: Int] {
        var used: [UInt32: Int] = [:]
        func add(_ table: borrowing IndexTable) {
            table.forEachSlot { used[$0.place.segment, default: 0] += Int($0.byteCount) }
        }
        if keepsParts {
            forEachPart { add($0) }
        } else {
            for number in parts.indices { peekPart(number: number, add) }
        }
        return used
    }
}
