import KeyedArchive
import TypedCache

/// The entries of one kind: on disk, and waiting to be written.
///
/// Entries are objects, so that code that is generic over them hands on references, and copies no values.
///
/// Keys are equal if Swift's strings are, here and on disk, where an entry has the composed form of its key.
///
/// Unchecked casts: `waiting` belongs to this table alone, which puts nothing in but records of its own type.
final class RecordTable<Record: AnyObject & Encoded & Equatable & Sendable>: Sendable
where Record.Wrapper.Value == Record {
    let cache: Cache<Record>
    private let waiting = WaitingChanges()
    private let renewals = Renewals()
    /// Reads an entry that the record's own decoding refuses; `nil`: it counts as missing.
    private let rescue: @Sendable (CacheError, String) throws(CacheError) -> Record?

    init(
        _ cache: Cache<Record>,
        rescue: @escaping @Sendable (CacheError, String) throws(CacheError) -> Record? = {
            _,
            _ throws(CacheError) in nil
        }
    ) {
        self.cache = cache
        self.rescue = rescue
    }

    private static func record(_ entry: WaitingChanges.Entry) -> Record { unsafeDowncast(entry, to: Record.self) }

    // MARK: Reading

    /// The entry that waits to be written, `.some(nil)` for a removal that waits; `nil` if nothing waits.
    func waitingEntry(_ key: String) -> Record?? {
        guard let entry = waiting[key] else { return nil }
        return .some(entry.map(Self.record))
    }

    /// The entry, as far as memory knows it without the disk; `nil` if the disk has to be read.
    func known(_ key: String) throws(ModelCacheError) -> Record?? {
        if let entry = waitingEntry(key) { return .some(entry) }
        let found = try wrappingCacheErrors { () throws(CacheError) in
            try cache.fetchFromMemory(forKey: key.composed)
        }
        guard let record = found else { return nil }
        return .some(renewed(record, key))
    }

    /// The entry as it was renewed since it was written.
    private func renewed(_ record: Record, _ key: String) -> Record {
        guard let renewal = renewals[key.composed] else { return record }
        return Self.record(renewal)
    }

    /// The same for the entries at some places.
    private func renew(_ found: inout Found, _ keys: PreparedKeys, at places: [Int]) {
        if renewals.isEmpty { return }
        for place in places where found.entries[place] != nil {
            if let renewal = renewals[keys[place]] { found.entries[place] = renewal }
        }
    }

    /// The entries for some keys, in their order, as objects: an array of records is one of a type that the runtime has to
    /// be asked for at each step.
    struct Found: Sendable {
        fileprivate var entries: [WaitingChanges.Entry?] = []

        var count: Int { entries.count }

        /// `nil` for a key without an entry.
        subscript(index: Int) -> Record? {
            get { entries[index].map(RecordTable.record) }
            set { entries[index] = newValue }
        }
    }

    /// The entries for some keys that memory knows without the disk, and the places of the keys that it does not.
    func known(_ keys: PreparedKeys) throws(ModelCacheError) -> (found: Found, unknown: [Int]) {
        // Before memory, which has a changed entry before it leaves the changes.
        let changes = waiting.changes(of: keys, at: keys.indices)
        var found = Found()
        found.entries.reserveCapacity(keys.indices.count)
        var unknown: [Int] = []
        var next = 0
        try wrappingCacheErrors { () throws(CacheError) in
            try cache.forEachFetchedFromMemory(keys) { record in
                let index = found.entries.count
                if next < changes.count, changes[next].place == index {
                    found.entries.append(changes[next].entry)
                    next += 1
                } else {
                    if record == nil { unknown.append(index) }
                    found.entries.append(record)
                }
            }
        }
        if !renewals.isEmpty { renew(&found, keys, at: Array(keys.indices)) }
        return (found, unknown)
    }

    /// Calls `body` with the entries for some keys, in their order, up to the first one that memory does not have. They may
    /// have their ages before a renewal.
    ///
    /// - Returns: whether memory had all entries.
    func forEachInMemory(_ keys: PreparedKeys, _ body: (Record) -> Void) throws(ModelCacheError) -> Bool {
        var next = 0
        for change in waiting.changes(of: keys, at: keys.indices) {
            guard try forEachWritten(keys, in: next..<change.place, body), let entry = change.entry else {
                return false
            }
            body(Self.record(entry))
            next = change.place + 1
        }
        return try forEachWritten(keys, in: next..<keys.indices.count, body)
    }

    private func forEachWritten(
        _ keys: PreparedKeys,
        in range: Range<Int>,
        _ body: (Record) -> Void
    ) throws(ModelCacheError) -> Bool {
        if range.isEmpty { return true }
        return try wrappingCacheErrors { () throws(CacheError) in
            try cache.forEachInMemory(keys, in: range, body)
        }
    }

    /// The entry for a key, if it is stored. Blocks on disk I/O.
    func read(_ key: String) throws(ModelCacheError) -> Record? {
        if let known = try known(key) { return known }
        let key = key.composed
        let read = try wrappingCacheErrors { () throws(CacheError) in
            try rescuing(key, Result { () throws(CacheError) in try cache.fetch(forKey: key) })
        }
        return read.map { renewed($0, key) }
    }

    /// The entries for some keys, in their order: one pass over memory, then one over the disk. Blocks on disk I/O.
    func read(_ keys: PreparedKeys) throws(ModelCacheError) -> Found {
        var (found, unknown) = try known(keys)
        try read(keys, at: unknown, into: &found)
        return found
    }

    /// Reads the entries for some of the keys, in one pass over the disk. Blocks on disk I/O.
    ///
    /// - Parameter places: of the keys that memory did not know.
    func read(_ keys: PreparedKeys, at places: [Int], into found: inout Found) throws(ModelCacheError) {
        // They may have been changed since memory was asked.
        let changes = waiting.changes(of: keys, at: places)
        for change in changes { found.entries[change.place] = change.entry }
        var places = places
        if !changes.isEmpty {
            let changed = Set(changes.map(\.place))
            places.removeAll(where: changed.contains)
        }
        if places.isEmpty { return }
        var read = Found()
        read.entries.reserveCapacity(places.count)
        try wrappingCacheErrors { () throws(CacheError) in
            try cache.forEachFetched(keys, at: places) { index, result throws(CacheError) in
                read.entries.append(try rescuing(keys[places[index]], result))
            }
        }
        for index in places.indices { found.entries[places[index]] = read.entries[index] }
        renew(&found, keys, at: places)
    }

    /// The entry that was read, or made of one that the record's own decoding refuses.
    private func rescuing(_ key: String, _ read: Result<Record?, CacheError>) throws(CacheError) -> Record? {
        do throws(CacheError) {
            return try read.get()
        } catch {
            guard error.code == .decodingFailed || error.code == .typeMismatch else { throw error }
            return try rescue(error, key)
        }
    }

    /// All entries, in no order. Takes time in proportion to their bytes. Blocks on disk I/O.
    func readAll() throws(ModelCacheError) -> [(key: String, record: Record)] {
        // First: an entry leaves these when it is on disk.
        let waiting = waiting.keys
        let written = try wrappingCacheErrors { () throws(CacheError) in try cache.keys().all() }
        var all: [(key: String, record: Record)] = []
        for key in waiting.union(written) { if let record = try read(key) { all.append((key, record)) } }
        return all
    }

    // MARK: Writing

    /// Puts entries in the place of the present ones, in this order; `nil` removes one. ``write(_:)`` brings them to disk.
    ///
    /// - Returns: the change, to be written.
    func change(_ changes: Changes) -> WaitingChanges.Due {
        // One that waits is written with its new age.
        let renewed = changes.list.filter { $0.isRenewal && waiting[$0.key] == nil }
        let keys = Set(renewed.map(\.key))
        let changed = keys.isEmpty ? changes.list : changes.list.filter { !keys.contains($0.key) }
        renewals.remove(changed)
        var due = waiting.add(changed + renewals.add(renewed))
        due.renewed = renewed.map(\.key)
        return due
    }

    /// Entries that are to take the place of present ones.
    struct Changes: Sendable {
        fileprivate var list: [WaitingChanges.Change] = []

        init(_ entries: [(key: String, record: Record?, tags: Set<String>)] = []) {
            list.reserveCapacity(entries.count)
            for (key, record, tags) in entries { append(key, record, tags: tags) }
        }

        init(capacity: Int) { list.reserveCapacity(capacity) }

        var count: Int { list.count }

        mutating func append(_ key: String, _ record: Record?, tags: Set<String>) {
            list.append(WaitingChanges.Change(key: key.composed, entry: record, tags: tags))
        }

        /// Puts another entry in the place of one that was appended.
        mutating func replace(_ index: Int, _ record: Record, tags: Set<String>) {
            list[index] = WaitingChanges.Change(key: list[index].key, entry: record, tags: tags)
        }

        /// Has an entry that was appended count as a renewal: see ``Renewals``.
        mutating func renew(_ index: Int) { list[index].isRenewal = true }

        func record(_ index: Int) -> Record? { list[index].entry.map(RecordTable.record) }
    }

    /// Writes changes to disk in their order, removals last. An entry that was changed again since is written as well, because
    /// later changes of other entries may rely on it. Blocks on disk I/O.
    ///
    /// - Returns: the first failure. Entries that the disk refuses stay in memory.
    func write(_ due: WaitingChanges.Due) -> CacheError? {
        if writeTogether(due.changes) {
            waiting.end(due)
            return nil
        }
        var failure: CacheError?
        // The error of many names one of them; to know of each, each is written by itself.
        for index in due.changes.indices {
            do throws(CacheError) {
                try write(due.changes[index])
                waiting.end(index, of: due, isRefused: false)
            } catch {
                waiting.end(index, of: due, isRefused: true)
                failure = failure ?? error
            }
        }
        return failure
    }

    private func writeTogether(_ changes: [WaitingChanges.Change]) -> Bool {
        do throws(CacheError) {
            try cache.save(count: changes.count) { index in
                guard let entry = changes[index].entry else { return nil }
                return (key: changes[index].key, value: Self.record(entry), tags: changes[index].tags)
            }
            var removed: [String] = []
            for index in changes.indices where changes[index].entry == nil { removed.append(changes[index].key) }
            if !removed.isEmpty { try cache.remove(forKeys: removed) }
            return true
        } catch {
            return false
        }
    }

    private func write(_ change: WaitingChanges.Change) throws(CacheError) {
        if let entry = change.entry {
            try cache.save(Self.record(entry), forKey: change.key, tags: change.tags)
        } else {
            try cache.remove(forKey: change.key)
        }
    }

    /// How many entries wait or are refused, for tests of bounds.
    var changeCount: Int { waiting.count }
}
