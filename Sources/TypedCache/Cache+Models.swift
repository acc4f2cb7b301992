import ArchiveStore
import Foundation

// For layers above a cache that keep state of their own beside its entries.

extension Cache {
    /// Returns the value that memory has for `key`, and `nil` if it has none or that has expired. Does no disk I/O.
    ///
    /// Counts as a hit, or as nothing.
    ///
    /// - Throws: as ``fetch(forKey:)``.
    package func fetchFromMemory(forKey key: String) throws(CacheError) -> Value? {
        let key = try entryKey(key)
        guard let found = try find(key), isHit(found) else { return nil }
        return try value(of: found)
    }

    /// Returns the entry for `key`, expired or not, without decoding it; `nil` if there is none. Blocks on disk I/O.
    ///
    /// - Throws: ``CacheError`` with code `.invalidKey`, `.unsupportedVersion`, or `.io`.
    package func undecodedEntry(forKey key: String) throws(CacheError) -> UndecodedEntry? {
        try core.readServable(entryKey(key)).map(UndecodedEntry.init)
    }
}

/// An entry as it was read from disk, without its value.
package struct UndecodedEntry: Sendable {
    package let archive: [UInt8]
    let information: EntryInformation

    init(_ stored: StoredArchive) {
        archive = stored.archive
        information = stored.information
    }
}

/// Keys in the form in which caches compare them, for a layer above that asks for the same ones again and again. Texts
/// that Swift takes for equal are one key.
package struct PreparedKeys: Sendable {
    fileprivate let keys: [EntryKey]

    /// - Throws: `.invalidKey`, for the first text that is not a key.
    package init(_ texts: [String]) throws(CacheError) {
        var keys: [EntryKey] = []
        keys.reserveCapacity(texts.count)
        for text in texts { keys.append(try EntryKey(text.composed)) }
        self.keys = keys
    }

    /// The same keys, and others after them.
    ///
    /// - Throws: `.invalidKey`, for the first text that is not a key.
    package init(_ former: PreparedKeys, followedBy texts: some Sequence<String>) throws(CacheError) {
        var keys = former.keys
        for text in texts { keys.append(try EntryKey(text.composed)) }
        self.keys = keys
    }

    /// For each key the place of the first one that is equal to it.
    package func firstPlaces() -> [Int] { keys.firstPlaces() }

    package var indices: Range<Int> { keys.indices }
    package subscript(index: Int) -> String { keys[index].text }

    /// The hash of a key: equal keys of this process have equal ones.
    package func hash(_ index: Int) -> UInt64 { keys[index].hash }

    /// The hash of a key with this text, which is in its composed form.
    package static func hash(of text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { KeyHash.hash(UnsafeRawBufferPointer($0)) }
    }
}

// Of objects, because code that is generic over other values copies them by their types' witnesses, which takes longer
// than all the rest.
extension Cache where Value: AnyObject {
    /// Calls `body` with the objects that memory has for some keys, in their order, and with `nil` where it has none or
    /// that has expired. Does no disk I/O.
    ///
    /// Counts hits, and misses as nothing.
    ///
    /// - Throws: as ``fetch(forKey:)``.
    package func forEachFetchedFromMemory(_ keys: PreparedKeys, _ body: (Value?) -> Void) throws(CacheError) {
        var hits = try Hits(self)
        defer { hits.end() }
        for index in keys.keys.indices { body(try hits.next(keys.keys[index]).map(value(of:))) }
    }

    /// Calls `body` with the objects that memory has for some keys, in their order, up to the first key for which it
    /// has none or an expired one. All else is as for ``forEachFetchedFromMemory(_:_:)``.
    ///
    /// - Parameter range: of the keys that are looked for.
    /// - Returns: whether memory had all of them.
    package func forEachInMemory(
        _ keys: PreparedKeys,
        in range: Range<Int>,
        _ body: (Value) -> Void
    ) throws(CacheError) -> Bool {
        var hits = try Hits(self)
        defer { hits.end() }
        for index in range {
            guard let entry = hits.next(keys.keys[index]) else { return false }
            if sharesValues { give(entry, to: body) } else { body(try value(of: entry)) }
        }
        return true
    }

    /// Calls `body` with an entry's object, as `value(of:)` returns it from a cache that shares its values. Not inlined:
    /// the caller has the entry in the meantime, so no reference to the object is counted.
    @inline(never) private func give(_ entry: MemoryEntry, to body: (Value) -> Void) {
        body(unsafeDowncast(entry, to: ValueEntry<Value>.self).value)
    }

    /// Looks for keys in memory, with one look at the clock for all of them.
    private struct Hits {
        // The fields that a hit reads, taken out of the cache once: counting a reference to an object takes several
        // times as long if there are weak references to it.
        private let table: EntryTable
        private let core: CacheCore
        private let gate: HitGate
        private var now: TimeInterval?
        /// Hits on entries with deadlines, which are not counted yet.
        private var count = 0

        /// - Throws: `.closed`, `.forked`, `.io`.
        init(_ cache: Cache) throws(CacheError) {
            try cache.checkUsable()
            if cache.followsOthers { try cache.core.followOthers() }
            table = cache.memory.table
            core = cache.core
            gate = cache.recorder.gate
        }

        @inline(__always) mutating func next(_ key: EntryKey) -> MemoryEntry? {
            guard let entry = table.hit(key) else { return nil }
            if entry.deadline != .infinity {
                let time = now ?? core.now
                now = time
                guard core.useIfFresh(entry, at: time) else { return nil }
                count += 1
            }
            if gate.stops(key.hash) { core.recorder.show(entry) }
            return entry
        }

        func end() { table.countHits(count) }
    }
}

extension Cache where Value: AnyObject & Sendable {
    /// Calls `body` with the objects for some of the keys, each as ``fetch(forKey:)`` returns it, in their order; the disk is
    /// read once for all that memory does not have. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - places: the places of the keys that are wanted.
    ///   - body: is given the place of a key in `places`.
    /// - Throws: `.closed`, `.forked`; errors of decoding an entry that memory has.
    package func forEachFetched(
        _ keys: PreparedKeys,
        at places: [Int],
        _ body: (_ index: Int, Result<Value?, CacheError>) throws(CacheError) -> Void
    ) throws(CacheError) {
        let fetched = try fetchTogether(places.map { keys.keys[$0] })
        for index in fetched.indices {
            try body(index, fetched[index].map { $0.map { Self.value(in: $0) } })
        }
    }

    /// Saves objects under their keys, each with tags of its own, in this order.
    ///
    /// Many objects are archived on all processors at once, and then handed to the store in their order. All else is as
    /// for ``save(contentsOf:expiration:tags:)``.
    ///
    /// - Parameters:
    ///   - count: how many there are.
    ///   - entry: returns one of them by its index, on any thread; `nil` leaves it out. By index, because a lazy sequence
    ///     of tuples asks the runtime for its types at each step.
    package func save(
        count: Int,
        _ entry: @Sendable (_ index: Int) -> (key: String, value: Value, tags: Set<String>)?
    ) throws(CacheError) {
        try checkUsable()
        var batch = Batch<BatchMember>()
        for first in stride(from: 0, to: count, by: mostArchivedAtOnce) {
            let members = inParts(first..<min(count, first + mostArchivedAtOnce)) { places in
                var members: [Result<BatchMember, CacheError>] = []
                members.reserveCapacity(places.count)
                for index in places {
                    guard let (key, value, tags) = entry(index) else { continue }
                    members.append(member(value, forKey: key, expiration: nil, tags: tags))
                }
                return members
            }
            for member in members {
                batch.add(member) { $0.byteCount }
                if batch.isFull { batch.failures.add(try core.write(batch.take())) }
            }
        }
        batch.failures.add(try core.write(batch.take()))
        try batch.failures.check()
    }

    /// So many archives may be in memory besides a batch.
    private var mostArchivedAtOnce: Int { 256 }
}
