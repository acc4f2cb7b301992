import Synchronization
import TypedCache

/// The stored models and lists of an account: how they are opened and read, the order in which they change, and who is
/// told.
final class ModelTables: Sendable {
    let account: Account
    let bookkeeping: Bookkeeping
    let clock: any CacheClock
    let report: @Sendable (ModelCacheError) -> Void
    let bus: ChangeBus
    /// One answer after another is merged, for each is merged over the result of the one before.
    let turns = Turns()
    let steps = Steps()
    private let phase = Atomic(Phase.open)

    /// - Parameter account: is open. Blocks on disk I/O, unless its bookkeeping was opened.
    /// - Throws: `.storage`.
    init(
        _ account: Account,
        clock: any CacheClock,
        report: @escaping @Sendable (ModelCacheError) -> Void
    ) throws(ModelCacheError) {
        self.account = account
        bookkeeping = try account.bookkeeping()
        bus = account.bus
        self.clock = clock
        self.report = report
    }

    // MARK: Ending

    private enum Phase: UInt8, AtomicRepresentable { case open, ended, erased }

    /// - Throws: `.closed`.
    func checkUsable() throws(ModelCacheError) {
        if phase.load(ordering: .sequentiallyConsistent) != .open { throw ModelCacheError.ended }
    }

    /// Whether nothing may be written any longer, waiting entries included.
    var isErased: Bool { phase.load(ordering: .sequentiallyConsistent) == .erased }

    /// Lets no change or observer go on.
    ///
    /// - Parameter isErased: whether nothing is written any longer.
    func end(isErased: Bool) {
        if isErased {
            phase.store(.erased, ordering: .sequentiallyConsistent)
        } else {
            // An erased one stays erased.
            _ = phase.compareExchange(expected: .open, desired: .ended, ordering: .sequentiallyConsistent)
        }
        bus.end()
    }

    // MARK: Revisions

    /// The next revision. Suspends where the disk has to be told first: at the first one, and if that came too late. Where
    /// the disk fails, that is reported, and the revision is one of this process alone.
    ///
    /// - Parameter scopes: are invalidated at the revision, in memory, in the moment at which it is given.
    /// - Throws: `.closed`.
    nonisolated(nonsending) func nextRevision(
        invalidating scopes: [InvalidationScope] = []
    ) async throws(ModelCacheError) -> Revision {
        try await drawing(invalidating: scopes) { draw in draw() }
    }

    /// Begins a request. All else is as for ``nextRevision(invalidating:)``.
    nonisolated(nonsending) func beginRequest() async throws(ModelCacheError) -> RequestStart {
        RequestStart(revision: try await nextRevision(), date: clock.now)
    }

    /// Runs `body` in a turn, with a revision that is given in the moment at which the turn gets its place: a change
    /// in a later turn has a later revision. All else is as for ``nextRevision(invalidating:)``.
    nonisolated(nonsending) func runTurn<Result>(
        _ body: nonisolated(nonsending) (Revision) async throws(ModelCacheError) -> Result
    ) async throws(ModelCacheError) -> Result {
        try await drawing { draw async throws(ModelCacheError) in try await turns.run(drawing: draw, body) }
    }

    /// Has `body` draw a revision, once more where none is left and the disk has to be told first.
    ///
    /// - Parameter body: returns `nil` if no revision was given.
    private nonisolated(nonsending) func drawing<Result>(
        invalidating scopes: [InvalidationScope] = [],
        _ body: nonisolated(nonsending) (_ draw: () -> Revision?) async throws(ModelCacheError) -> Result?
    ) async throws(ModelCacheError) -> Result {
        try checkUsable()
        var isReserved = true
        while true {
            let result = try await body {
                guard isReserved else { return bookkeeping.nextUnreserved(invalidating: scopes) }
                return bookkeeping.next(invalidating: scopes, reserveSoon)
            }
            if let result { return result }
            do throws(ModelCacheError) {
                try await account.reading { [bookkeeping] () throws(ModelCacheError) in try bookkeeping.reserve() }
            } catch {
                if error.code == .closed { throw error }
                report(error)
                isReserved = false
            }
        }
    }

    /// Has more revisions reserved before the last one is given. Does no I/O.
    private func reserveSoon() {
        account.writer.add(0) { [bookkeeping, report] in
            do throws(ModelCacheError) {
                try bookkeeping.reserve()
            } catch {
                report(error)
            }
        }
    }

    // MARK: Tables

    nonisolated(nonsending) func table<Model: CachedModel>(
        _ type: Model.Type
    ) async throws(ModelCacheError) -> ModelTable<Model> {
        try checkUsable()
        if let table = try account.openTable(type) { return table }
        return try await account.reading { [account] () throws(ModelCacheError) in try account.table(type) }
    }

    nonisolated(nonsending) func lists() async throws(ModelCacheError) -> ListTable {
        try checkUsable()
        if let lists = account.openLists { return lists }
        return try await account.reading { [account] () throws(ModelCacheError) in try account.lists() }
    }

    // MARK: Entries

    /// The entries of several models or lists, `nil` for missing ones: one pass over memory, one over the disk.
    nonisolated(nonsending) func records<Record>(
        _ table: RecordTable<Record>,
        _ keys: PreparedKeys
    ) async throws(ModelCacheError) -> RecordTable<Record>.Found {
        let (known, unknown) = try table.known(keys)
        if unknown.isEmpty { return known }
        return try await account.reading { () throws(ModelCacheError) in
            var found = known
            try table.read(keys, at: unknown, into: &found)
            return found
        }
    }

    /// The table of a type, opened if it is not, and the entries of some models. All else is as for an open table.
    nonisolated(nonsending) func records<Model: CachedModel>(
        of type: Model.Type,
        _ keys: PreparedKeys
    ) async throws(ModelCacheError) -> (table: ModelTable<Model>, found: RecordTable<ModelRecord<Model>>.Found) {
        try checkUsable()
        if let table = try account.openTable(type) { return (table, try await records(table.records, keys)) }
        // By one change of threads, which takes as long as reading many entries.
        return try await account.reading { [account] () throws(ModelCacheError) in
            let table = try account.table(type)
            return (table, try table.records.read(keys))
        }
    }

    /// - Throws: `.storage`, if one of the texts cannot be a key.
    nonisolated(nonsending) func records<Record>(
        _ table: RecordTable<Record>,
        _ keys: [String]
    ) async throws(ModelCacheError) -> RecordTable<Record>.Found {
        let keys = try wrappingCacheErrors { () throws(CacheError) in try PreparedKeys(keys) }
        return try await records(table, keys)
    }

    nonisolated(nonsending) func record<Record>(
        _ table: RecordTable<Record>,
        _ key: String
    ) async throws(ModelCacheError) -> Record? {
        if let known = try table.known(key) { return known }
        return try await account.reading { () throws(ModelCacheError) in try table.read(key) }
    }

    /// The entry of a model.
    nonisolated(nonsending) func record<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String
    ) async throws(ModelCacheError) -> ModelRecord<Model>? {
        try await record(table(type).records, key)
    }

    /// A list without unconfirmed changes.
    nonisolated(nonsending) func record(_ list: some ModelList) async throws(ModelCacheError) -> ListRecord? {
        try await record(lists().records, list.listKey)?.record
    }
}
