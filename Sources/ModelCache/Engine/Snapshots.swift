import Foundation
import TypedCache

/// The stored models and lists as they show, with unconfirmed changes applied.
struct Snapshots: Sendable {
    let tables: ModelTables

    private var bookkeeping: Bookkeeping { tables.bookkeeping }
    private var account: Account { tables.account }

    /// A model as it shows, if it is stored or an unconfirmed change adds it.
    nonisolated(nonsending) func snapshot<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String
    ) async throws(ModelCacheError) -> ModelSnapshot<Model>? {
        try await snapshots(type, [key]).first ?? nil
    }

    /// Models as they show, in the order of the keys; `nil` for a missing model.
    nonisolated(nonsending) func snapshots<Model: CachedModel>(
        _ type: Model.Type,
        _ keys: [String]
    ) async throws(ModelCacheError) -> [ModelSnapshot<Model>?] {
        let prepared = try wrappingCacheErrors { () throws(CacheError) in try PreparedKeys(keys) }
        return try await tables.steps.reading(tables.turns) { () async throws(ModelCacheError) in
            let (table, records) = try await tables.records(of: type, prepared)
            return snapshots(of: records, keys, in: table)
        }
    }

    private func snapshots<Model: CachedModel>(
        of records: RecordTable<ModelRecord<Model>>.Found,
        _ keys: [String],
        in table: ModelTable<Model>
    ) -> [ModelSnapshot<Model>?] {
        let layers = table.layers.changes(over: keys)
        return keys.indices.map { index in
            let key = keys[index]
            return snapshot(of: records[index], key, under: layers[key] ?? [])
        }
    }

    /// Some models as they show at this moment; `nil` if memory does not have all of them.
    func snapshotsInMemory<Model: CachedModel>(
        _ type: Model.Type,
        _ keys: [String]
    ) throws(ModelCacheError) -> [ModelSnapshot<Model>?]? {
        try tables.checkUsable()
        let prepared = try wrappingCacheErrors { () throws(CacheError) in try PreparedKeys(keys) }
        guard let table = try account.openTable(type) else { return nil }
        return try tables.steps.readingAtOnce { () throws(ModelCacheError) in
            let (records, unknown) = try table.records.known(prepared)
            return unknown.isEmpty ? snapshots(of: records, keys, in: table) : nil
        }
    }

    /// The stored ones of some models, with unconfirmed changes applied, by identity.
    nonisolated(nonsending) func snapshotsByID<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: some Sequence<Model.ID>
    ) async throws(ModelCacheError) -> [Model.ID: ModelSnapshot<Model>] {
        Self.byID(try await snapshots(type, ids.map(\.cacheKey)))
    }

    static func byID<Model: CachedModel>(_ found: [ModelSnapshot<Model>?]) -> [Model.ID: ModelSnapshot<Model>] {
        Dictionary(found.compactMap { $0 }.map { ($0.value.id, $0) }) { first, _ in first }
    }

    private func snapshot<Model: CachedModel>(
        of record: ModelRecord<Model>?,
        _ key: String,
        under layers: [Layers<Model>.Change]
    ) -> ModelSnapshot<Model>? {
        guard let value = Layers.apply(layers, to: record?.model) else { return nil }
        return ModelSnapshot(
            value: value,
            fetchedAt: record?.state.fetchedAt,
            freshness: record.map { freshness(of: $0, key) } ?? .fresh(until: nil),
            isChanging: !layers.isEmpty
        )
    }

    /// Whether an unconfirmed change hides a stored model.
    nonisolated(nonsending) func isRemovedByChanges<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String
    ) async throws(ModelCacheError) -> Bool {
        let table = try await tables.table(type)
        guard let changes = table.layers.changes(over: [key])[key] else { return false }
        guard let model = try await tables.record(table.records, key)?.model else { return false }
        return Layers.apply(changes, to: model) == nil
    }

    // MARK: Freshness

    func freshness<Model: CachedModel>(of record: ModelRecord<Model>, _ key: String) -> Freshness {
        freshness(
            of: record.state,
            in: InvalidationScope.all(of: record.model, key),
            Model.request(for: record.model.id),
            or: record.isComplete ? nil : .incomplete
        )
    }

    private func freshness(of record: ListRecord, _ list: some ModelList) -> Freshness {
        freshness(
            of: record.state,
            in: InvalidationScope.all(of: list),
            list.request(after: nil),
            or: record.state.isRefused ? .cursorRefused : nil
        )
    }

    /// - Parameters:
    ///   - scopes: the entry's scopes.
    ///   - request: the entry's own.
    ///   - fault: another reason for which it is stale.
    private func freshness(
        of state: EntryState,
        in scopes: @autoclosure () -> [InvalidationScope],
        _ request: @autoclosure () -> ModelRequest,
        or fault: StaleReason?
    ) -> Freshness {
        if bookkeeping.isInvalidated(state, in: scopes()) { return .stale(since: nil, because: .invalidated) }
        if let fault { return .stale(since: nil, because: fault) }
        if !state.varying.isEmpty, !state.matches(request()) { return .stale(since: nil, because: .otherVariant) }
        guard let until = state.freshUntil else { return .fresh(until: nil) }
        let now = tables.clock.now
        // The clock was set back since, so the entry's times say nothing.
        if now < state.fetchedAt { return .stale(since: nil, because: .expired) }
        return now < until ? .fresh(until: until) : .stale(since: until, because: .expired)
    }

    /// Whether a model is stale that was invalidated while an answer that brought or confirmed it was on its way.
    func wasInvalidated<Model: CachedModel>(
        _ record: ModelRecord<Model>,
        _ key: String,
        after answer: Answer
    ) -> Bool {
        bookkeeping.latestInvalidation(of: InvalidationScope.all(of: record.model, key)) > answer.revision
            && !freshness(of: record, key).isFresh
    }

    // MARK: Lists

    /// A list as it shows, with its elements; `nil` if it is not there.
    nonisolated(nonsending) func snapshot<List: ModelList>(
        _ list: List
    ) async throws(ModelCacheError) -> ListSnapshot<List>? {
        try await tables.steps.reading(tables.turns) { () async throws(ModelCacheError) in
            try tables.checkUsable()
            if let known = try snapshotInMemory(list) { return known }
            // All of it by one change of threads, which takes as long as reading many models.
            return try await account.reading { () throws(ModelCacheError) in try readSnapshot(list) }
        }
    }

    /// A list as it shows at this moment; `nil` if memory does not have all of it.
    func snapshotAtOnce<List: ModelList>(_ list: List) throws(ModelCacheError) -> ListSnapshot<List>?? {
        try tables.checkUsable()
        return try tables.steps.readingAtOnce { () throws(ModelCacheError) in try snapshotInMemory(list) }
    }

    /// A list as ``snapshot(_:)`` gives it, if memory has all of it; `nil` if the disk has to be read.
    private func snapshotInMemory<List: ModelList>(
        _ list: List
    ) throws(ModelCacheError) -> ListSnapshot<List>?? {
        guard let lists = account.openLists, let base = try lists.records.known(list.listKey) else { return nil }
        guard let shown = Self.shown(list, base, in: lists) else { return .some(nil) }
        guard let table = try account.openTable(List.Element.self) else { return nil }
        let keys = try wrappingCacheErrors { () throws(CacheError) in try shown.entry.keys.get() }
        guard let elements = try Self.elementsInMemory(table, keys) else { return nil }
        return snapshot(list, shown, elements: elements, holes: [])
    }

    /// As ``snapshot(_:)``. Blocks on disk I/O.
    private func readSnapshot<List: ModelList>(_ list: List) throws(ModelCacheError) -> ListSnapshot<List>? {
        let lists = try account.lists()
        guard let shown = Self.shown(list, try lists.records.read(list.listKey), in: lists) else { return nil }
        let table = try account.table(List.Element.self)
        let keys = try wrappingCacheErrors { () throws(CacheError) in try shown.entry.keys.get() }
        if let elements = try Self.elementsInMemory(table, keys) {
            return snapshot(list, shown, elements: elements, holes: [])
        }
        let (elements, holes) = try Self.readElements(table, ids: shown.entry.record.ids, keys: keys)
        return snapshot(list, shown, elements: elements, holes: holes)
    }

    private func snapshot<List: ModelList>(
        _ list: List,
        _ shown: ShownList,
        elements: [List.Element],
        holes: [List.Element.ID]
    ) -> ListSnapshot<List> {
        let record = shown.entry.record
        var freshness = freshness(of: record, list)
        if freshness.isFresh, !holes.isEmpty { freshness = .stale(since: nil, because: .holes) }
        return ListSnapshot(
            elements: elements,
            holes: holes,
            hasMore: record.next != nil,
            hasPrevious: record.previous != nil,
            fetchedAt: record.state.fetchedAt == ListRecord.never ? nil : record.state.fetchedAt,
            freshness: freshness,
            isChanging: shown.isChanging,
            details: record.details?.value(List.Details.self)
        )
    }

    /// The models of a list, if memory has them all as they are on disk, and no change shows over them.
    private static func elementsInMemory<Element: CachedModel>(
        _ table: ModelTable<Element>,
        _ keys: PreparedKeys
    ) throws(ModelCacheError) -> [Element]? {
        guard table.layers.isEmpty else { return nil }
        var isWhole = false
        // Into an array's memory: an `append` that is generic over models asks the runtime for the array's type at each
        // element. As many as there are keys are initialized at most, and all that are counted.
        let elements = try [Element](unsafeUninitializedCapacity: keys.indices.count) {
            elements,
            count throws(ModelCacheError) in
            isWhole = try table.records.forEachInMemory(keys) { record in
                elements.initializeElement(at: count, to: record.model)
                count += 1
            }
        }
        return isWhole ? elements : nil
    }

    /// The models of a list, with unconfirmed changes applied, and the identities of missing models. Blocks on disk
    /// I/O.
    private static func readElements<Element: CachedModel>(
        _ table: ModelTable<Element>,
        ids: [String],
        keys: PreparedKeys
    ) throws(ModelCacheError) -> (elements: [Element], holes: [Element.ID]) {
        let records = try table.records.read(keys)
        let layers = table.layers.changes(over: ids)
        var elements: [Element] = []
        elements.reserveCapacity(ids.count)
        var holes: [Element.ID] = []
        // By index: code that is generic over models asks the runtime for the types of an iterator at each step.
        for index in 0..<records.count {
            let changes = layers.isEmpty ? [] : layers[ids[index]] ?? []
            if let value = Layers.apply(changes, to: records[index]?.model) {
                elements.append(value)
            } else if changes.isEmpty, let id = Element.ID(cacheKey: ids[index]) {
                // A model that is removed by an unconfirmed change does not leave a hole.
                holes.append(id)
            }
        }
        return (elements, holes)
    }

    /// A list as it shows.
    struct ShownList: Sendable {
        let entry: ListEntry
        /// Whether unconfirmed changes are part of it.
        let isChanging: Bool
    }

    nonisolated(nonsending) func shown<List: ModelList>(
        _ list: List
    ) async throws(ModelCacheError) -> ShownList? {
        let table = try await tables.lists()
        return Self.shown(list, try await tables.record(table.records, list.listKey), in: table)
    }

    /// A list as it shows.
    ///
    /// - Parameter base: its entry, without unconfirmed changes.
    private static func shown<List: ModelList>(
        _ list: List,
        _ base: ListEntry?,
        in table: ListTable
    ) -> ShownList? {
        let key = list.listKey
        // Another list may have had this key.
        let entry = base.flatMap { $0.record.modelName == List.Element.modelName ? $0 : nil }
        guard let changes = table.layers.changes(over: [key])[key] else {
            return entry.map { ShownList(entry: $0, isChanging: false) }
        }
        let shown = Layers.apply(changes, to: entry?.record)
        return shown.map { ShownList(entry: ListEntry($0), isChanging: true) }
    }
}
