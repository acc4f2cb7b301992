import ArchiveStore
import Foundation

extension Cache {
    /// Returns the value saved for `key`, or `nil` if there is none or it has expired.
    ///
    /// Looks in memory, then on disk; may block on disk I/O. A damaged entry counts as none: it is taken out of the
    /// way, counted in ``statistics``, and told as an event.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.invalidKey`; `.typeMismatch` if the entry holds another type;
    ///   `.decodingFailed` if the type's own decoding refuses the entry; `.unsupportedVersion` if a newer
    ///   version wrote it; `.io` if the file system fails. The entry stays as it is then.
    /// - Complexity: O(1) for a hit in memory; O(*n*) in the entry's bytes for one on disk.
    public func fetch(forKey key: some CacheKey) throws(CacheError) -> Value? {
        let key = try entryKey(key)
        let found = try find(key)
        if let found, isHit(found) { return try value(of: found) }
        return try fetch(key, useless: found)
    }

    /// Reads the store, or compares memory's entry with it.
    ///
    /// - Parameter useless: the entry that memory has, and that has expired; `nil` if there is none.
    private func fetch(
        _ key: EntryKey,
        useless: MemoryEntry?,
        _ freshness: FetchFreshness = .bounded
    ) throws(CacheError) -> Value? {
        if followsOthers, let entry = try core.compare(key, freshness) { return try hit(entry) }
        return try finish(core.read(key, useless: useless), key)
    }

    /// As its blocking twin, but suspends.
    private nonisolated(nonsending) func fetch(
        suspending key: EntryKey,
        useless: MemoryEntry?,
        _ freshness: FetchFreshness = .bounded
    ) async throws(CacheError) -> Value? {
        if followsOthers, core.hasDoubts,
            let entry = try await core.compare([key], isUrgent: false, freshness)[0].get()
        {
            return try hit(entry)
        }
        let reads = await core.read([(key, useless)], allowsStale: false, mayBeOlder: freshness == .bounded)
        return try finish(reads[0].get(), key)
    }

    /// The value of an entry of memory that was compared with the store's.
    func hit(_ entry: MemoryEntry) throws(CacheError) -> Value {
        let value = try value(of: entry)
        entry.use()
        recorder.comparedHit(entry)
        return value
    }

    /// Returns the value saved for `key`, or `nil` if there is none or it has expired.
    ///
    /// Suspends only where the disk has to be read. Decodes the value on the caller's thread: the main actor fetches a
    /// very large one, an array of 10,000 rows say, in a function marked `@concurrent`, or a detached task. All else is
    /// as for the synchronous twin.
    public nonisolated(nonsending) func fetch(
        forKey key: some CacheKey
    ) async throws(CacheError) -> Value? {
        let key = try entryKey(key)
        let found = try find(key)
        if let found, isHit(found) { return try value(of: found) }
        return try await fetch(suspending: key, useless: found)
    }

    // MARK: Memory alone

    /// Returns the value that memory has for `key`, or `nil` if it has none or that has expired, and looks nowhere else.
    ///
    /// For code that must not wait, the `body` of a SwiftUI view say, which shows a placeholder for `nil` and has a task
    /// fetch the value:
    ///
    /// ```swift
    /// let city = try cities.fetchFromMemory(forKey: "490")
    /// ```
    ///
    /// `nil` does not mean that there is no entry: the disk may have it. A value that is found counts as a hit, and moves
    /// an idle deadline; `nil` counts as nothing, since the fetch that follows counts. No event tells of it either. Does
    /// no disk I/O, but for a look at the changes of other processes with ``DiskSettings/followsOtherProcesses``. Where
    /// values are not shared, see ``Cache/sharesValues``, the archive in memory is decoded on the caller's thread.
    ///
    /// - Parameter key: 1 to 1,024 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.invalidKey`; `.typeMismatch` and `.decodingFailed` where an archive is
    ///   decoded; `.io` if changes by other processes cannot be read.
    /// - Complexity: O(1) for a shared value; O(*n*) in the archive's bytes for another one.
    public func fetchFromMemory(forKey key: some CacheKey) throws(CacheError) -> Value? {
        try fetchFromMemory(forKey: key.cacheKey)
    }

    // MARK: The latest value

    /// Returns the latest value for `key`, or `nil` if there is none or it has expired: from the server, if the cache
    /// is on one, or else from the disk.
    ///
    /// Memory alone may answer other fetches with a value that another machine has replaced not long ago, see
    /// `SharedTier`, or another process, see ``DiskSettings/followsOtherProcesses``. This call asks the server, which
    /// sends 59 bytes if the entry in memory is still the same; a cache on disk reads the disk. Blocks until then.
    ///
    /// - Parameters:
    ///   - key: 1 to 1,024 UTF-8 bytes.
    ///   - freshness: ``FetchFreshness/bounded`` is as without it.
    /// - Throws: as ``fetch(forKey:)``; `.unreachable` if the server does not answer, or has not yet acknowledged a
    ///   change of the key by this process.
    public func fetch(forKey key: some CacheKey, freshness: FetchFreshness) throws(CacheError) -> Value? {
        let entryKey = try entryKey(key)
        guard freshness == .latest, try beginLatest(entryKey) else { return try fetch(forKey: key) }
        let value = try fetch(entryKey, useless: nil, .latest)
        if value == nil { try core.checkAnswers(entryKey) }
        return value
    }

    /// Returns the latest value for `key`, or `nil` if there is none or it has expired: from the server, if the cache
    /// is on one, or else from the disk.
    ///
    /// Suspends the task. All else is as for the synchronous twin.
    public nonisolated(nonsending) func fetch(
        forKey key: some CacheKey,
        freshness: FetchFreshness
    ) async throws(CacheError) -> Value? {
        let entryKey = try entryKey(key)
        guard freshness == .latest, try beginLatest(entryKey) else { return try await fetch(forKey: key) }
        let value = try await fetch(suspending: entryKey, useless: nil, .latest)
        if value == nil { try core.checkAnswers(entryKey) }
        return value
    }

    /// - Returns: whether the store is to be asked.
    private func beginLatest(_ key: EntryKey) throws(CacheError) -> Bool {
        try checkUsable()
        if followsOthers { try core.followOthers() }
        try core.checkAnswers(key)
        return core.makeDoubtful(key)
    }

    /// - Throws: `.closed` and `.forked`.
    @inline(__always) func checkUsable() throws(CacheError) {
        if !usage.isUsable { throw unusable }
    }

    private var unusable: CacheError { CacheError(usage.failure).named(cache: name) }

    /// The entry that memory has for a key, fresh or not; `nil` if there is none.
    func find(_ key: EntryKey) throws(CacheError) -> MemoryEntry? {
        try checkUsable()
        if followsOthers { try core.followOthers() }
        return memory.table.hit(key)
    }

    /// Whether an entry from memory is fresh; if so, the hit is recorded.
    func isHit(_ found: MemoryEntry) -> Bool {
        // Otherwise the caller reads the disk, where the entry may be newer than the one in memory.
        guard found.deadline == .infinity || core.useIfFresh(found) else { return false }
        recorder.memoryHit(found)
        return true
    }

    // MARK: Casts

    /// Returns the value saved for `key` as a subclass of the cache's type.
    ///
    /// ```swift
    /// let lion = try zoo.fetch(SubFamily.self, forKey: "lion")
    /// ```
    ///
    /// - Parameters:
    ///   - type: the type to cast to.
    ///   - key: 1 to 1,024 UTF-8 bytes.
    /// - Returns: the value, or `nil` if there is none or it has expired.
    /// - Throws: ``CacheError`` with code `.typeMismatch` if the value is not of that type, and all that
    ///   ``fetch(forKey:)`` throws.
    public func fetch<T>(_ type: T.Type, forKey key: some CacheKey) throws(CacheError) -> T? {
        try cast(fetch(forKey: key), key)
    }

    /// Returns the value saved for `key` as a subclass of the cache's type.
    ///
    /// Suspends only where the disk has to be read. All else is as for the synchronous twin.
    public nonisolated(nonsending) func fetch<T>(
        _ type: T.Type,
        forKey key: some CacheKey
    ) async throws(CacheError) -> T? {
        try cast(await fetch(forKey: key), key)
    }

    private func cast<T>(_ value: Value?, _ key: some CacheKey) throws(CacheError) -> T? {
        guard let value else { return nil }
        guard let typed = value as? T else {
            let error = CacheError(.typeMismatch, "the entry is \(Swift.type(of: value)), not \(T.self)")
            throw error.named(cache: name, key: key.cacheKey)
        }
        return typed
    }

    // MARK: Several keys, and the one object

    /// Returns the values saved for some keys, by key; keys without an entry, or with an expired one, are left out.
    ///
    /// May block on disk I/O; entries that lie close to each other on disk are read together. Many entries of Sendable values
    /// are read and decoded on all processors at once; a server is asked for 32 keys at a time.
    ///
    /// - Throws: as ``fetch(forKey:)``, for the first key that fails; `.invalidKey` as well if two keys are the same
    ///   text to Swift in different bytes, which the result could not tell apart.
    // Inlinable, so that the dictionary is filled by code that knows its types: 400 instructions a key, and 2,400 without.
    @inlinable
    public func fetch<Key: CacheKey>(forKeys keys: some Sequence<Key>) throws(CacheError) -> [Key: Value] {
        let keys = Array(keys)
        return try fetchAll(keys.map { $0.cacheKey }).named(keys)
    }

    /// Fetches the values saved for some texts.
    @usableFromInline
    func fetchAll(_ texts: [String]) throws(CacheError) -> FetchedValues<Value> {
        let (keys, places) = try core.naming { () throws(CacheError) in try EntryKey.distinct(texts) }
        return FetchedValues(entries: try fetchTogether(keys), places: places)
    }

    /// Several keys, as far as memory has their values.
    private struct Lookup {
        var results: [FetchedEntry] = []
        /// The keys that the store is asked for, and the entries of memory that cannot be used.
        var unknown: [(key: EntryKey, useless: MemoryEntry?)] = []
        /// The places of their results.
        var places: [Int] = []
    }

    /// Looks for some keys in memory.
    ///
    /// - Throws: `.closed`, `.forked`; an error of following other processes.
    private func inMemory(_ keys: [EntryKey]) throws(CacheError) -> Lookup {
        var lookup = Lookup()
        lookup.results.reserveCapacity(keys.count)
        for key in keys {
            let found = try find(key)
            if let found, let entry = try hitEntry(found) {
                lookup.results.append(.success(entry))
            } else {
                lookup.unknown.append((key, found))
                lookup.places.append(lookup.results.count)
                lookup.results.append(.success(nil))
            }
        }
        return lookup
    }

    /// An entry from memory with its value; all else is as for ``hitValue(_:)``.
    private func hitEntry(_ found: MemoryEntry) throws(CacheError) -> MemoryEntry? {
        if sharesValues { return isHit(found) ? found : nil }
        guard let value = try hitValue(found) else { return nil }
        return ValueEntry(holding: value, of: found.key)
    }

    /// Takes the entries of memory that were compared with the store's: none of their keys is read.
    private func takeCompared(_ compared: [Result<MemoryEntry?, CacheError>], in lookup: inout Lookup) {
        var left: [Int] = []
        for index in compared.indices {
            do throws(CacheError) {
                if let entry = try compared[index].get() {
                    let value = try hit(entry)
                    let own = sharesValues ? entry : ValueEntry(holding: value, of: entry.key)
                    lookup.results[lookup.places[index]] = .success(own)
                } else {
                    left.append(index)
                }
            } catch {
                lookup.results[lookup.places[index]] = .failure(error)
            }
        }
        (lookup.unknown, lookup.places) = (left.map { lookup.unknown[$0] }, left.map { lookup.places[$0] })
    }

    /// Takes the results of the keys that were read.
    private func takeRead(_ read: [FetchedEntry], in lookup: inout Lookup) -> [FetchedEntry] {
        // Mostly memory has none of them.
        if lookup.places.count == lookup.results.count { return read }
        for index in lookup.places.indices { lookup.results[lookup.places[index]] = read[index] }
        return lookup.results
    }

    /// Fetches some keys, each as ``fetch(forKey:)`` does, but the disk is read once for the keys that memory does not have.
    ///
    /// - Throws: `.closed`, `.forked`; an error of following other processes.
    func fetchTogether(_ keys: [EntryKey]) throws(CacheError) -> [FetchedEntry] {
        var lookup = try inMemory(keys)
        if lookup.unknown.isEmpty { return lookup.results }
        if followsOthers, core.hasDoubts {
            let compared = lookup.unknown.map { known in
                Result { () throws(CacheError) in try core.compare(known.key) }
            }
            takeCompared(compared, in: &lookup)
        }
        return takeRead(readTogether(lookup.unknown), in: &lookup)
    }

    /// Reads entries and decodes them: a part of them each processor, from the disk to the value, or all by one call where a
    /// server is asked.
    private func readTogether(_ wanted: [(key: EntryKey, useless: MemoryEntry?)]) -> [FetchedEntry] {
        if core.remote != nil { return finish(core.readTogether(wanted), wanted.map { $0.key }) }
        return inParts(wanted.indices) { places in
            let part = Array(wanted[places])
            return finish(core.readTogether(part), part.map { $0.key }, at: part.indices)
        }
    }

    /// Returns the values saved for some keys, by key; keys without an entry, or with an expired one, are left out.
    ///
    /// Suspends only where the disk has to be read, once for all keys. All else is as for the synchronous twin.
    @inlinable
    public nonisolated(nonsending) func fetch<Key: CacheKey>(
        forKeys keys: some Sequence<Key>
    ) async throws(CacheError) -> [Key: Value] {
        let keys = Array(keys)
        return try await fetchAll(suspending: keys.map { $0.cacheKey }).named(keys)
    }

    /// As its blocking twin, but suspends.
    @usableFromInline
    nonisolated(nonsending) func fetchAll(
        suspending texts: [String]
    ) async throws(CacheError) -> FetchedValues<Value> {
        let (keys, places) = try core.naming { () throws(CacheError) in try EntryKey.distinct(texts) }
        return FetchedValues(entries: try await fetchTogether(suspending: keys), places: places)
    }

    /// As its blocking twin, but suspends, and entries of memory that may be out of date are compared together.
    private nonisolated(nonsending) func fetchTogether(
        suspending keys: [EntryKey]
    ) async throws(CacheError) -> [FetchedEntry] {
        var lookup = try inMemory(keys)
        if lookup.unknown.isEmpty { return lookup.results }
        if followsOthers, core.hasDoubts {
            takeCompared(await core.compare(lookup.unknown.map { $0.key }, isUrgent: false), in: &lookup)
            if lookup.unknown.isEmpty { return lookup.results }
        }
        let reads = await core.read(lookup.unknown, allowsStale: false)
        return takeRead(finish(reads, lookup.unknown.map { $0.key }), in: &lookup)
    }

    /// Returns the object of a cache of one object, or `nil` if there is none or it has expired.
    ///
    /// - Throws: as ``fetch(forKey:)``.
    public func fetchObject() throws(CacheError) -> Value? {
        try fetch(forKey: Self.objectKey)
    }

    /// Returns the object of a cache of one object, or `nil` if there is none or it has expired.
    ///
    /// Suspends only where the disk has to be read. All else is as for the synchronous twin.
    public nonisolated(nonsending) func fetchObject() async throws(CacheError) -> Value? {
        try await fetch(forKey: Self.objectKey)
    }
}
