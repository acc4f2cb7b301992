import Foundation
import Synchronization
import TypedCache

/// The parts of a ``ModelCache``, and reading, which they do together.
///
/// Merging, loading and changing have a file each.
final class ModelEngine: Sendable {
    let account: Account
    let transport: (any ModelTransport)?
    let clock: any CacheClock
    let makeDecoder: @Sendable () -> JSONDecoder
    let report: @Sendable (ModelCacheError) -> Void
    let loads = InFlightLoads()
    let postponed = PostponedRequests()
    let bus = ChangeBus()
    /// One answer after another is merged, for each is merged over the result of the one before.
    let turns = Turns()
    let steps = Steps()
    let mode = Mutex(ConnectionMode.online)
    private let phase = Atomic(Phase.open)
    let changeCount = Atomic<UInt64>(0)

    init(
        account: Account,
        transport: (any ModelTransport)?,
        clock: any CacheClock,
        decoder: @escaping @Sendable () -> JSONDecoder,
        report: @escaping @Sendable (ModelCacheError) -> Void
    ) {
        self.account = account
        self.transport = transport
        self.clock = clock
        makeDecoder = decoder
        self.report = report
    }

    // MARK: Ending

    private enum Phase: UInt8, AtomicRepresentable { case open, ended, erased }

    var isEnded: Bool { phase.load(ordering: .sequentiallyConsistent) != .open }

    /// - Throws: `.closed`.
    func checkUsable() throws(ModelCacheError) {
        if isEnded { throw ModelCacheError.ended }
    }

    /// Whether nothing may be written any longer, waiting entries included.
    var isErased: Bool { phase.load(ordering: .sequentiallyConsistent) == .erased }

    /// Lets nothing go on, and has nothing written any longer.
    func erase() {
        phase.store(.erased, ordering: .sequentiallyConsistent)
        end()
    }

    /// Lets no load, change or observer go on.
    func end() {
        // An erased one stays erased.
        _ = phase.compareExchange(expected: .open, desired: .ended, ordering: .sequentiallyConsistent)
        loads.end()
        bus.end()
    }

    /// The next revision. Suspends where the disk has to be told first: at the first one, and if that came too late. Where
    /// the disk fails, that is reported, and the revision is one of this process alone.
    ///
    /// - Parameter scopes: are invalidated at the revision, in memory, in the moment at which it is given.
    /// - Throws: `.closed`.
    nonisolated(nonsending) func nextRevision(
        _ bookkeeping: Bookkeeping,
        invalidating scopes: [InvalidationScope] = []
    ) async throws(ModelCacheError) -> Revision {
        try await drawing(bookkeeping, invalidating: scopes) { draw in draw() }
    }

    /// Runs `body` in a turn, with a revision that is given in the moment at which the turn gets its place: a change
    /// in a later turn has a later revision. All else is as for ``nextRevision(_:invalidating:)``.
    nonisolated(nonsending) func runTurn<Result>(
        _ body: nonisolated(nonsending) (Revision) async -> Result
    ) async throws(ModelCacheError) -> Result {
        try await drawing(try await bookkeeping()) { draw in await turns.run(drawing: draw, body) }
    }

    /// Has `body` draw a revision, once more where none is left and the disk has to be told first.
    ///
    /// - Parameter body: returns `nil` if no revision was given.
    private nonisolated(nonsending) func drawing<Result>(
        _ bookkeeping: Bookkeeping,
        invalidating scopes: [InvalidationScope] = [],
        _ body: nonisolated(nonsending) (_ draw: () -> Revision?) async -> Result?
    ) async throws(ModelCacheError) -> Result {
        var isReserved = true
        while true {
            let result = await body {
                guard isReserved else { return bookkeeping.nextUnreserved(invalidating: scopes) }
                return bookkeeping.next(invalidating: scopes) { reserveSoon($0) }
            }
            if let result { return result }
            do throws(ModelCacheError) {
                try await account.reading { () throws(ModelCacheError) in try bookkeeping.reserve() }
            } catch {
                if error.code == .closed { throw error }
                report(error)
                isReserved = false
            }
        }
    }

    /// Has more revisions reserved before the last one is given. Does no I/O.
    private func reserveSoon(_ bookkeeping: Bookkeeping) {
        account.writer.add(0) { [report] in
            do throws(ModelCacheError) {
                try bookkeeping.reserve()
            } catch {
                report(error)
            }
        }
    }

    // MARK: Opening

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

    nonisolated(nonsending) func bookkeeping() async throws(ModelCacheError) -> Bookkeeping {
        try checkUsable()
        if let bookkeeping = account.openBookkeeping { return bookkeeping }
        return try await account.reading { [account] () throws(ModelCacheError) in try account.bookkeeping() }
    }

    // MARK: Entries

    /// The entries of some models or lists, `nil` for those that are not there: one pass over memory, one over the disk.
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
}
