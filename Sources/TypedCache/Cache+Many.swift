import ArchiveStore
import Foundation

// Many entries by one call: the disk is locked and waited for once for a batch of them.

extension Cache {
    /// Saves many values, each in place of the entry that its key had.
    ///
    /// ```swift
    /// try cities.save(contentsOf: records.lazy.map { ($0.id, City($0)) }, tags: ["atlas"])
    /// ```
    ///
    /// As a save of each value, in their order, but the work that a save does once is done once for a batch of them:
    /// with ``DiskSettings/Durability/power``, the call waits for the device after each batch. A batch is 1,000
    /// entries, or fewer if their archives are 4 MiB together; so of a lazy sequence, however long, no more than that
    /// is in memory at a time.
    ///
    /// All entries are tried, even if others fail; a program that is killed may have saved any of them. Of two entries
    /// for one key, the later one counts. Blocks on disk I/O.
    ///
    /// - Parameters:
    ///   - entries: keys of 1 to 1,024 UTF-8 bytes, and values; gone through once, on the caller's thread. The
    ///     sequence may use the cache.
    ///   - expiration: how long each entry may be used, counted from when it is archived; `nil` for the cache's own
    ///     default.
    ///   - tags: groups that all the entries belong to: up to 10 of 1 to 256 UTF-8 bytes.
    /// - Throws: ``CacheError`` with code `.closed` if the cache is closed, and then later entries were not tried; else,
    ///   after all were tried, the error of the first entry that failed, with its key and in its message how many others
    ///   did: `.invalidKey`, `.invalidExpiration`, `.invalidTag`, `.encodingFailed`, `.tooLarge` and `.io` as for a save.
    ///   If the last value for a key failed, the entry that the key had before is gone; all others are saved.
    /// - Complexity: O(*n*) in the values' archives.
    public func save<Key: CacheKey>(
        contentsOf entries: some Sequence<(Key, Value)>,
        expiration: Expiration? = nil,
        tags: Set<String> = []
    ) throws(CacheError) {
        try checkUsable()
        var batch = Batch<BatchMember>()
        for (key, value) in entries {
            batch.add(member(value, forKey: key, expiration: expiration, tags: tags)) { $0.byteCount }
            if batch.isFull { batch.failures.add(try core.write(batch.take())) }
        }
        batch.failures.add(try core.write(batch.take()))
        try batch.failures.check()
    }

    /// Saves many values, each in place of the entry that its key had.
    ///
    /// Archives values on the caller's thread, and suspends while a batch of them is saved. Not ordered with other
    /// asynchronous calls that are under way, even for the same keys. All else is as for the synchronous twin.
    public nonisolated(nonsending) func save<Key: CacheKey>(
        contentsOf entries: some Sequence<(Key, Value)>,
        expiration: Expiration? = nil,
        tags: Set<String> = []
    ) async throws(CacheError) {
        try checkUsable()
        var batch = Batch<BatchMember>()
        for (key, value) in entries {
            batch.add(member(value, forKey: key, expiration: expiration, tags: tags)) { $0.byteCount }
            if batch.isFull { batch.failures.add(try await write(batch.take())) }
        }
        batch.failures.add(try await write(batch.take()))
        try batch.failures.check()
    }

    /// Saves the values of a dictionary, each in place of the entry that its key had.
    ///
    /// ```swift
    /// try cities.save(contentsOf: ["490": lavasan, "491": alvand])
    /// ```
    ///
    /// In no order. Blocks on disk I/O. All else, and the errors, are as for a sequence of keys and values.
    ///
    /// - Parameters:
    ///   - entries: values by their keys of 1 to 1,024 UTF-8 bytes.
    ///   - expiration: how long each entry may be used, counted from when it is archived; `nil` for the cache's own
    ///     default.
    ///   - tags: groups that all the entries belong to: up to 10 of 1 to 256 UTF-8 bytes.
    /// - Throws: ``CacheError``, as for a sequence.
    /// - Complexity: O(*n*) in the values' archives.
    public func save<Key: CacheKey>(
        contentsOf entries: [Key: Value],
        expiration: Expiration? = nil,
        tags: Set<String> = []
    ) throws(CacheError) {
        try save(contentsOf: entries.lazy.map { ($0.key, $0.value) }, expiration: expiration, tags: tags)
    }

    /// Saves the values of a dictionary, each in place of the entry that its key had.
    ///
    /// In no order. Archives values on the caller's thread, and suspends while a batch of them is saved. All else is as
    /// for the synchronous twin.
    public nonisolated(nonsending) func save<Key: CacheKey>(
        contentsOf entries: [Key: Value],
        expiration: Expiration? = nil,
        tags: Set<String> = []
    ) async throws(CacheError) {
        try await save(contentsOf: entries.lazy.map { ($0.key, $0.value) }, expiration: expiration, tags: tags)
    }

    /// Removes the entries for many keys, in memory and on disk.
    ///
    /// As a removal of each, but the disk is locked and waited for once for each 1,000 of them. Blocks on disk I/O.
    ///
    /// - Parameter keys: each of 1 to 1,024 UTF-8 bytes; gone through once.
    /// - Returns: how many entries there were, expired or not.
    /// - Throws: ``CacheError`` with code `.closed` if the cache is closed; else, after all were tried, the error of
    ///   the first key that failed, with that key and in its message how many others did: `.invalidKey`, or `.io`, and
    ///   then its entry is not used by this process any longer, but is still on disk.
    /// - Complexity: O(*n*) in the number of keys.
    @discardableResult
    public func remove<Key: CacheKey>(forKeys keys: some Sequence<Key>) throws(CacheError) -> Int {
        try checkUsable()
        var batch = Batch<EntryKey>()
        var count = 0
        for key in keys {
            batch.add(result(of: key)) { _ in 0 }
            if batch.isFull { count += batch.end(try core.remove(batch.take())) }
        }
        count += batch.end(try core.remove(batch.take()))
        try batch.failures.check()
        return count
    }

    /// Removes the entries for many keys, in memory and on disk.
    ///
    /// Suspends while they are removed. Not ordered with other asynchronous calls that are under way, even for the same
    /// keys. All else is as for the synchronous twin.
    @discardableResult
    public nonisolated(nonsending) func remove<Key: CacheKey>(
        forKeys keys: some Sequence<Key>
    ) async throws(CacheError) -> Int {
        try checkUsable()
        var batch = Batch<EntryKey>()
        var count = 0
        for key in keys {
            batch.add(result(of: key)) { _ in 0 }
            if batch.isFull { count += batch.end(try await remove(batch.take())) }
        }
        count += batch.end(try await remove(batch.take()))
        try batch.failures.check()
        return count
    }

    private nonisolated(nonsending) func write(_ members: [BatchMember]) async throws(CacheError) -> [CacheError?] {
        let core = core
        return try await core.queues.runThrowing { () throws(CacheError) in try core.write(members) }
    }

    private nonisolated(nonsending) func remove(
        _ keys: [EntryKey]
    ) async throws(CacheError) -> (count: Int, failures: [CacheError]) {
        let core = core
        return try await core.queues.runThrowing { () throws(CacheError) in try core.remove(keys) }
    }

    private func result(of key: some CacheKey) -> Result<EntryKey, CacheError> {
        Result { () throws(CacheError) in try entryKey(key) }
    }

    /// An entry that is to be saved, or why it cannot be archived.
    ///
    /// - Returns: a failure for an invalid key.
    func member(
        _ value: Value,
        forKey key: some CacheKey,
        expiration: Expiration?,
        tags: Set<String>
    ) -> Result<BatchMember, CacheError> {
        result(of: key).map { key in
            do throws(CacheError) {
                let attributes = try attributes(expiration, tags: tags, of: key)
                return .new(try Self.newEntry(value, forKey: key, attributes, as: form))
            } catch {
                return .failed(key, error)
            }
        }
    }
}

/// One batch of a call's elements, and the failures of the call so far.
struct Batch<Element> {
    private static var mostElements: Int { 1_000 }
    private static var mostBytes: Int { 4 << 20 }

    private var elements: [Element] = []
    private var byteCount = 0
    var failures = Failures()

    var isFull: Bool { elements.count >= Self.mostElements || byteCount >= Self.mostBytes }

    mutating func add(_ element: Result<Element, CacheError>, byteCount: (Element) -> Int) {
        switch element {
        case .success(let element):
            elements.append(element)
            self.byteCount += byteCount(element)
        case .failure(let error):
            failures.add([error])
        }
    }

    mutating func take() -> [Element] {
        defer { (elements, byteCount) = ([], 0) }
        return elements
    }

    /// Adds the failures of a batch, and returns its count.
    mutating func end(_ outcome: (count: Int, failures: [CacheError])) -> Int {
        failures.add(outcome.failures)
        return outcome.count
    }
}

/// The first failure among many entries.
struct Failures {
    private var first: CacheError?
    private var count = 0

    mutating func add(_ errors: [CacheError?]) {
        for case let error? in errors {
            first = first ?? error
            count += 1
        }
    }

    func check() throws(CacheError) {
        if let first { throw first.amongFailures(count) }
    }
}
