import Dispatch
import Foundation
import KeyedArchive
import Synchronization
import TypedCache

/// The caches of one account: one for each type of model, one for lists, and the bookkeeping. Each is opened at its first
/// use.
final class Account: Sendable {
    /// `nil`: in memory alone.
    private let directory: AccountDirectory?
    /// The settings that all of its caches share.
    private let disk: DiskSettings
    private let clock: any CacheClock
    private let models: [String: any CachedModel.Type]
    private let tables = Mutex(Tables())
    /// The same, for a look that waits for no opening.
    private let opened = Mutex(Tables())
    private var encryption: DiskSettings.Encryption { directory?.encryption.disk ?? .none }
    let writer = DiskWriter()
    let bus = ChangeBus()
    /// Where disk reads run: the threads of Swift's tasks are too few to wait for a disk.
    private let readers = DispatchQueue(
        label: "model-cache.readers",
        qos: .userInitiated,
        attributes: .concurrent,
        autoreleaseFrequency: .workItem
    )
    private let report: @Sendable (ModelCacheError) -> Void

    private struct Tables {
        var models: [String: any Closable] = [:]
        var lists: ListTable?
        var bookkeeping: (Bookkeeping, Cache<BookkeepingRecord>)?
        var isEnded = false

        /// The tables of models and of lists.
        var all: [any Closable] { Array(models.values) + (lists.map { [$0] } ?? []) }
    }

    /// - Throws: `.invalidModel`.
    init(
        _ directory: AccountDirectory?,
        _ disk: DiskSettings = DiskSettings(),
        models types: [any CachedModel.Type],
        clock: any CacheClock,
        report: @escaping @Sendable (ModelCacheError) -> Void
    ) throws(ModelCacheError) {
        var models: [String: any CachedModel.Type] = [:]
        for type in types {
            let name = type.modelName
            guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(Self.isAllowed) else {
                throw ModelCacheError(.invalidModel, "a model's name is 1 to 64 of a–z, 0–9, - and _, not \(name)")
            }
            if let other = models.updateValue(type, forKey: name), other != type {
                throw ModelCacheError(.invalidModel, "\(other) and \(type) are both called \(name)")
            }
        }
        self.directory = directory
        self.disk = disk
        self.clock = clock
        self.models = models
        self.report = report
    }

    /// Entries that wait to be written keep the claim until they are.
    deinit { writer.claim.withLock { $0?.letOthersWait() } }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
    }

    // MARK: Opening

    /// Takes the account for this object alone, and opens the bookkeeping. Blocks on disk I/O.
    ///
    /// - Throws: `.accountInUse`, `.storage`.
    func open() throws(ModelCacheError) {
        if let directory {
            let own = try directory.claim()
            writer.claim.withLock { $0 = own }
        }
        do throws(ModelCacheError) {
            try directory?.finishErasing()
            _ = try bookkeeping()
        } catch {
            giveUpClaim()
            throw error
        }
    }

    /// Lets another object open the account.
    private func giveUpClaim() { _ = writer.claim.withLock { $0.take() } }

    // The lock is held while a cache is opened: others need that cache as well, or will soon. Caches call nothing of this
    // type. Blocks on disk I/O.

    private func withTables<Result>(
        _ body: (inout sending Tables) throws(CacheError) -> sending Result
    ) throws(ModelCacheError) -> Result {
        try wrappingCacheErrors { () throws(CacheError) in
            try tables.withLock { tables throws(CacheError) in
                let result = try body(&tables)
                let now = tables
                opened.withLock { $0 = now }
                return result
            }
        }
    }

    private func unknown<Model: CachedModel>(_ type: Model.Type) -> ModelCacheError {
        ModelCacheError(.unknownModel, "\(type) is not among the types that the cache was opened with")
    }

    private func open<Value: Encoded & Sendable>(
        _ type: Value.Type,
        _ name: String,
        memory: MemorySettings,
        disk settings: (inout DiskSettings) -> Void,
        expiration: Expiration,
        unreadable: UnreadableEntries
    ) throws(CacheError) -> Cache<Value> where Value.Wrapper.Value == Value {
        var disk = disk
        disk.encryption = encryption
        settings(&disk)
        return try Value.openCache(
            name: name,
            directory: directory?.url,
            memory: memory,
            disk: directory == nil ? nil : disk,
            expiration: expiration,
            clock: clock,
            observer: unreadable
        )
    }

    /// The table of a type. Blocks on disk I/O the first time.
    ///
    /// - Throws: `.unknownModel`, `.closed`, `.storage`.
    func table<Model: CachedModel>(_ type: Model.Type) throws(ModelCacheError) -> ModelTable<Model> {
        let name = Model.modelName
        guard models[name] == Model.self else {
            throw unknown(type)
        }
        let (writer, report) = (writer, report)
        return try withTables { tables throws(CacheError) in
            if let table = tables.models[name] as? ModelTable<Model> { return table }
            if tables.isEnded { throw CacheError.closed }
            let policy = Model.policy
            let removals = Removals(idleTime: policy.expiration.idleTime)
            let unreadable = UnreadableEntries("a stored model of \(name)", report) { [bus] key in
                removals.lost(key)
                bus.tell([ModelTable<Model>.name(key)])
            } subject: {
                .model(Model.self, key: $0)
            }
            let cache = try open(
                ModelRecord<Model>.self,
                name,
                memory: policy.memory,
                disk: { $0.byteLimit = policy.disk },
                expiration: policy.expiration,
                unreadable: unreadable
            )
            let table = ModelTable(
                cache,
                removals: removals,
                unreadable: unreadable,
                writer: writer,
                report: report
            )
            tables.models[name] = table
            return table
        }
    }

    /// The table of a type, if it is open. Does no disk I/O.
    ///
    /// - Throws: `.unknownModel`.
    func openTable<Model: CachedModel>(_ type: Model.Type) throws(ModelCacheError) -> ModelTable<Model>? {
        guard let tables = opened.withLock({ $0.models[Model.modelName] }) else { return nil }
        guard let table = tables as? ModelTable<Model> else { throw unknown(type) }
        return table
    }

    var openLists: ListTable? { opened.withLock { $0.lists } }

    /// The table of all lists. All else is as for models.
    func lists() throws(ModelCacheError) -> ListTable {
        let report = report
        return try withTables { tables throws(CacheError) in
            if let lists = tables.lists { return lists }
            if tables.isEnded { throw CacheError.closed }
            let losses = Removals(idleTime: ListTable.expiration.idleTime)
            let unreadable = UnreadableEntries("a stored list", report) { [bus] key in
                losses.lost(key)
                bus.tell([ListTable.name(key)])
            } subject: {
                .list(key: $0)
            }
            let cache = try open(
                ListEntry.self,
                "$lists",
                memory: MemorySettings(byteLimit: .mebibytes(8)),
                disk: { $0.byteLimit = .mebibytes(64) },
                expiration: ListTable.expiration,
                unreadable: unreadable
            )
            let lists = ListTable(cache, losses: losses, unreadable: unreadable)
            tables.lists = lists
            return lists
        }
    }

    func bookkeeping() throws(ModelCacheError) -> Bookkeeping {
        let report = report
        return try withTables { tables throws(CacheError) in
            if let found = tables.bookkeeping { return found.0 }
            if tables.isEnded { throw CacheError.closed }
            let unreadable = UnreadableEntries("the account's counter of revisions", report)
            let cache = try open(
                BookkeepingRecord.self,
                "$bookkeeping",
                memory: MemorySettings(),
                // A counter that is behind its entries after a power failure would have answers dropped for older ones.
                disk: { ($0.layout, $0.durability) = (.files, .power) },
                expiration: .never,
                unreadable: unreadable
            )
            let bookkeeping = try Bookkeeping(cache, unreadable: unreadable)
            tables.bookkeeping = (bookkeeping, cache)
            return bookkeeping
        }
    }

    // MARK: Reading and ending

    /// Suspends until `body` has run on a thread that may wait for the disk.
    nonisolated(nonsending) func reading<Result: Sendable>(
        _ body: @escaping @Sendable () throws(ModelCacheError) -> Result
    ) async throws(ModelCacheError) -> Result {
        try await readers.run { Swift.Result { () throws(ModelCacheError) in try body() } }.get()
    }

    /// Closes all caches. Blocks on disk I/O.
    ///
    /// - Returns: the first failure.
    func close() -> ModelCacheError? {
        defer { giveUpClaim() }
        return closeCaches()
    }

    private func closeCaches() -> ModelCacheError? {
        let (tables, bookkeeping) = tables.withLock { tables in
            tables.isEnded = true
            return (tables.all, tables.bookkeeping?.1)
        }
        let failure = firstFailure(of: tables) { $0.close() }
        // Also after a failure: a cache that stays open keeps its files.
        let last = bookkeeping.flatMap(closing)
        return failure ?? last
    }

    /// Encrypts all entries with the current key that have a former one. Blocks on disk I/O.
    ///
    /// - Throws: `.closed`, `.storage`.
    func rekey() throws(ModelCacheError) -> [Rekeyed] {
        _ = try bookkeeping()
        var all: [any Closable] = [try lists()]
        for type in models.values { all.append(try table(of: type)) }
        let bookkeeping = tables.withLock { $0.bookkeeping?.1 }
        let otherCaches = try namesOfOtherCaches()
        return try wrappingCacheErrors { () throws(CacheError) in
            var results: [Rekeyed] = []
            for table in all { results.append(try table.rekey()) }
            if let bookkeeping { results.append(try bookkeeping.rekey()) }
            for name in otherCaches { results.append(try rekey(cache: name)) }
            return results
        }
    }

    /// The names of the caches of types that the account was not opened with: former keys may be forgotten, so that these get
    /// the current key as well.
    private func namesOfOtherCaches() throws(ModelCacheError) -> [String] {
        guard encryption != .none, let directory else { return [] }
        do {
            let path = directory.url.path(percentEncoded: false)
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            return names.filter { !$0.hasPrefix(".") && !$0.hasPrefix("$") && models[$0] == nil }
        } catch {
            throw ModelCacheError(.storage, "the caches of the account cannot be listed", cause: error)
        }
    }

    private func rekey(cache name: String) throws(CacheError) -> Rekeyed {
        var disk = disk
        disk.encryption = encryption
        let cache = try CacheInspector(name: name, root: directory?.url, program: name, create: false, disk: disk)
        let result = Result { () throws(CacheError) in try cache.rekey { _ in true } }
        try cache.close()
        return try result.get()
    }

    private func table<Model: CachedModel>(of type: Model.Type) throws(ModelCacheError) -> any Closable {
        try table(type)
    }

    /// Gives up entries in memory, of each table, until no more than so many are left. Nothing for an account in memory
    /// alone.
    func trimMemory(toCount count: Int) {
        guard directory != nil else { return }
        for table in opened.withLock({ $0.all }) { table.trimMemory(toCount: count) }
    }

    /// Closes all caches and deletes their files. Blocks on disk I/O.
    ///
    /// - Throws: `.storage`.
    func erase() throws(ModelCacheError) {
        defer { giveUpClaim() }
        // A cache that cannot be closed properly has unwritten indexes, say, which go with its files.
        _ = closeCaches()
        try directory?.erase()
    }
}

/// A table of models of any type, or of lists.
protocol Closable: Sendable {
    func close() -> ModelCacheError?
    func trimMemory(toCount count: Int)
    func rekey() throws(CacheError) -> Rekeyed
}

/// Calls `body` with each element, also after one that fails.
///
/// - Returns: the first failure.
func firstFailure<Element, Failure>(of elements: [Element], _ body: (Element) -> Failure?) -> Failure? {
    var first: Failure?
    for element in elements {
        let failure = body(element)
        first = first ?? failure
    }
    return first
}

func closing<Value: Encoded>(_ cache: Cache<Value>) -> ModelCacheError? {
    do throws(CacheError) {
        try cache.close()
        return nil
    } catch {
        return ModelCacheError(error)
    }
}

/// All lists of an account.
final class ListTable: Closable {
    static let expiration = Expiration.afterIdle(.days(30))

    let records: RecordTable<ListEntry>
    let layers = Layers<ListRecord>()
    let removals = Removals()
    let losses: Removals
    let recentChanges = RecentChanges()

    init(_ cache: Cache<ListEntry>, losses: Removals, unreadable: UnreadableEntries) {
        self.losses = losses
        records = RecordTable(cache) { error, key throws(CacheError) in
            unreadable.tell(key, because: error)
            return nil
        }
    }

    func close() -> ModelCacheError? { closing(records.cache) }
    func trimMemory(toCount count: Int) { records.cache.trimMemory(toCount: count) }
    func rekey() throws(CacheError) -> Rekeyed { try records.cache.rekey() }

    /// Puts entries in the place of the present ones.
    func merged(_ changes: RecordTable<ListEntry>.Changes) -> MergedGroup {
        losses.wrote(at: (0..<changes.count).compactMap { changes.record($0)?.record.state.revision }.max())
        let due = records.change(changes)
        return MergedGroup(model: nil, due: due) { [self] in records.write(due) }
    }

    static func name(_ key: String) -> EntryName { EntryName(model: nil, key: key) }
}
