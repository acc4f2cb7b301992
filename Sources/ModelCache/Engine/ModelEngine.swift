import Foundation
import Synchronization
import TypedCache

/// The parts of a ``ModelCache``, and what they do together: reading.
///
/// Merging, loading and changing have a file each.
final class ModelEngine: Sendable {
    let account: Account
    let transport: (any ModelTransport)?
    let clock: any CacheClock
    let makeDecoder: @Sendable () -> JSONDecoder
    let report: @Sendable (ModelCacheError) -> Void
    let loads = InFlightLoads()
    let bus = ChangeBus()
    /// One answer after another is merged, for each is merged over what the one before has left.
    let turns = Turns()
    let mode = Mutex(ConnectionMode.online)
    private let isEndedFlag = Atomic(false)
    private let isErasedFlag = Atomic(false)
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

    var isEnded: Bool { isEndedFlag.load(ordering: .sequentiallyConsistent) }

    /// - Throws: `.closed`.
    func checkUsable() throws(ModelCacheError) {
        if isEnded { throw ModelCacheError.ended }
    }

    /// Whether nothing may be written any more, what waits to be written included.
    var isErased: Bool { isErasedFlag.load(ordering: .sequentiallyConsistent) }

    /// Lets nothing go on, and has nothing written any more.
    func erase() {
        isErasedFlag.store(true, ordering: .sequentiallyConsistent)
        end()
    }

    /// Lets no load, change or observer go on.
    func end() {
        isEndedFlag.store(true, ordering: .sequentiallyConsistent)
        loads.end()
        bus.end()
    }

    /// The next revision.
    func nextRevision(_ bookkeeping: Bookkeeping) throws(ModelCacheError) -> Revision {
        try bookkeeping.next { bookkeeping in
            account.writer.add(0) { [report] in
                do throws(ModelCacheError) {
                    try bookkeeping.reserve()
                } catch {
                    report(error)
                }
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
        _ keys: [String]
    ) async throws(ModelCacheError) -> [Record?] {
        var found: [Record?] = []
        found.reserveCapacity(keys.count)
        var missing: [Int] = []
        for (index, key) in keys.enumerated() {
            let known = try table.known(key)
            found.append(known ?? nil)
            if known == nil { missing.append(index) }
        }
        guard !missing.isEmpty else { return found }
        let places = missing
        let read = try await account.reading { () throws(ModelCacheError) in
            var read: [Record?] = []
            read.reserveCapacity(places.count)
            for place in places { read.append(try table.read(keys[place])) }
            return read
        }
        for (place, record) in zip(places, read) { found[place] = record }
        return found
    }

    nonisolated(nonsending) func record<Record>(
        _ table: RecordTable<Record>,
        _ key: String
    ) async throws(ModelCacheError) -> Record? {
        if let known = try table.known(key) { return known }
        return try await account.reading { () throws(ModelCacheError) in try table.read(key) }
    }
}
