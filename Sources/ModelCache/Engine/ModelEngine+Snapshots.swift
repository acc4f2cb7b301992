import Foundation
import TypedCache

// Reading stored models and lists, with unconfirmed changes applied.

extension ModelEngine {
    /// A model as it shows; `nil` if it is not there.
    nonisolated(nonsending) func snapshot<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID
    ) async throws(ModelCacheError) -> ModelSnapshot<Model>? {
        try await snapshots(type, [id.cacheKey]).first ?? nil
    }

    /// Some models as they show, `nil` for those that are not there, in the order of the keys.
    nonisolated(nonsending) func snapshots<Model: CachedModel>(
        _ type: Model.Type,
        _ keys: [String]
    ) async throws(ModelCacheError) -> [ModelSnapshot<Model>?] {
        let prepared = try wrappingCacheErrors { () throws(CacheError) in try PreparedKeys(keys) }
        let bookkeeping = try await bookkeeping()
        return try await steps.reading(turns) { () async throws(ModelCacheError) in
            let (table, records) = try await self.records(of: type, prepared)
            return self.snapshots(of: records, keys, in: table, bookkeeping)
        }
    }

    private func snapshots<Model: CachedModel>(
        of records: RecordTable<ModelRecord<Model>>.Found,
        _ keys: [String],
        in table: ModelTable<Model>,
        _ bookkeeping: Bookkeeping
    ) -> [ModelSnapshot<Model>?] {
        let layers = table.layers.changes(over: keys)
        return keys.indices.map { index in
            let key = keys[index]
            return snapshot(of: records[index], key, under: layers[key] ?? [], in: bookkeeping)
        }
    }

    /// Some models as they show at this moment; `nil` if memory does not have all of them.
    func snapshotsInMemory<Model: CachedModel>(
        _ type: Model.Type,
        _ keys: [String]
    ) throws(ModelCacheError) -> [ModelSnapshot<Model>?]? {
        try checkUsable()
        let prepared = try wrappingCacheErrors { () throws(CacheError) in try PreparedKeys(keys) }
        guard let table = try account.openTable(type), let bookkeeping = account.openBookkeeping else { return nil }
        return try steps.readingAtOnce { () throws(ModelCacheError) in
            let (records, unknown) = try table.records.known(prepared)
            return unknown.isEmpty ? self.snapshots(of: records, keys, in: table, bookkeeping) : nil
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
        under layers: [Layers<Model>.Change],
        in bookkeeping: Bookkeeping
    ) -> ModelSnapshot<Model>? {
        var value = record?.model
        for layer in layers { layer(&value) }
        guard let value else { return nil }
        return ModelSnapshot(
            value: value,
            fetchedAt: record?.state.fetchedAt,
            freshness: record.map { freshness(of: $0, key, bookkeeping) } ?? .fresh(until: nil),
            isChanging: !layers.isEmpty
        )
    }

    /// Whether a model is stored, and does not show because a change removes it that is not confirmed.
    nonisolated(nonsending) func isRemovedByChanges<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String
    ) async throws(ModelCacheError) -> Bool {
        let table = try await table(type)
        guard let changes = table.layers.changes(over: [key])[key] else { return false }
        var model = try await record(table.records, key)?.model
        if model == nil { return false }
        for change in changes { change(&model) }
        return model == nil
    }

    func freshness<Model: CachedModel>(
        of record: ModelRecord<Model>,
        _ key: String,
        _ bookkeeping: Bookkeeping
    ) -> Freshness {
        if bookkeeping.isInvalidated(record.state, in: Self.scopes(of: record.model, key)) {
            return .stale(since: nil, because: .invalidated)
        }
        if !record.isComplete { return .stale(since: nil, because: .incomplete) }
        if !record.state.varying.isEmpty, !record.state.matches(Model.request(for: record.model.id)) {
            return .stale(since: nil, because: .otherVariant)
        }
        return freshness(of: record.state)
    }

    private func freshness(of state: EntryState) -> Freshness {
        guard let until = state.freshUntil else { return .fresh(until: nil) }
        let now = clock.now
        // The clock was set back since, so the entry's times say nothing.
        if now < state.fetchedAt { return .stale(since: nil, because: .expired) }
        return now < until ? .fresh(until: until) : .stale(since: until, because: .expired)
    }

    /// The scopes that a model belongs to.
    static func scopes<Model: CachedModel>(of model: Model, _ key: String) -> [InvalidationScope] {
        [.type(Model.self), .model(Model.self, key: key)] + model.tags.map(InvalidationScope.tag)
    }

    // MARK: Lists

    /// A list as it shows, with its elements; `nil` if it is not there.
    nonisolated(nonsending) func snapshot<List: ModelList>(
        _ list: List
    ) async throws(ModelCacheError) -> ListSnapshot<List>? {
        try await steps.reading(turns) { () async throws(ModelCacheError) in
            try self.checkUsable()
            if let known = try self.snapshotInMemory(list) { return known }
            // All of it by one change of threads, which takes as long as reading many models.
            return try await self.account.reading { () throws(ModelCacheError) in try self.readSnapshot(list) }
        }
    }

    /// A list as it shows at this moment; `nil` if memory does not have all of it.
    func snapshotAtOnce<List: ModelList>(_ list: List) throws(ModelCacheError) -> ListSnapshot<List>?? {
        try checkUsable()
        return try steps.readingAtOnce { () throws(ModelCacheError) in try self.snapshotInMemory(list) }
    }

    /// A list as ``snapshot(_:)`` gives it, if memory has all of it; `nil` if the disk has to be read.
    private func snapshotInMemory<List: ModelList>(
        _ list: List
    ) throws(ModelCacheError) -> ListSnapshot<List>?? {
        guard let lists = account.openLists, let bookkeeping = account.openBookkeeping,
            let base = try lists.records.known(list.listKey)
        else { return nil }
        guard let shown = Self.shown(list, base, in: lists) else { return .some(nil) }
        guard let table = try account.openTable(List.Element.self) else { return nil }
        let keys = try wrappingCacheErrors { () throws(CacheError) in try shown.entry.keys.get() }
        guard let elements = try Self.elementsInMemory(table, keys) else { return nil }
        return snapshot(list, shown, elements: elements, holes: [], in: bookkeeping)
    }

    /// As ``snapshot(_:)``. Blocks on disk I/O.
    private func readSnapshot<List: ModelList>(_ list: List) throws(ModelCacheError) -> ListSnapshot<List>? {
        let lists = try account.lists()
        guard let shown = Self.shown(list, try lists.records.read(list.listKey), in: lists) else { return nil }
        let table = try account.table(List.Element.self)
        let keys = try wrappingCacheErrors { () throws(CacheError) in try shown.entry.keys.get() }
        let bookkeeping = try account.bookkeeping()
        if let elements = try Self.elementsInMemory(table, keys) {
            return snapshot(list, shown, elements: elements, holes: [], in: bookkeeping)
        }
        let (elements, holes) = try Self.readElements(table, ids: shown.entry.record.ids, keys: keys)
        return snapshot(list, shown, elements: elements, holes: holes, in: bookkeeping)
    }

    private func snapshot<List: ModelList>(
        _ list: List,
        _ shown: ShownList,
        elements: [List.Element],
        holes: [List.Element.ID],
        in bookkeeping: Bookkeeping
    ) -> ListSnapshot<List> {
        let record = shown.entry.record
        var freshness = freshness(of: record, list, bookkeeping)
        if freshness.isFresh, !holes.isEmpty { freshness = .stale(since: nil, because: .holes) }
        return ListSnapshot(
            elements: elements,
            holes: holes,
            hasMore: record.next != nil,
            fetchedAt: record.state.fetchedAt == Self.never ? nil : record.state.fetchedAt,
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
            var value = records[index]?.model
            let changes = layers.isEmpty ? [] : layers[ids[index]] ?? []
            for change in changes { change(&value) }
            if let value {
                elements.append(value)
            } else if changes.isEmpty, let id = Element.ID(cacheKey: ids[index]) {
                // A model that is removed by an unconfirmed change is no hole.
                holes.append(id)
            }
        }
        return (elements, holes)
    }

    /// The time of a list that no answer has brought.
    static var never: Date { Date(timeIntervalSinceReferenceDate: 0) }

    /// A list as it shows.
    struct ShownList: Sendable {
        let entry: ListEntry
        /// Whether unconfirmed changes are part of it.
        let isChanging: Bool
    }

    nonisolated(nonsending) func shown<List: ModelList>(
        _ list: List
    ) async throws(ModelCacheError) -> ShownList? {
        let table = try await lists()
        return Self.shown(list, try await record(table.records, list.listKey), in: table)
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
        var shown = entry?.record
        for change in changes { change(&shown) }
        return shown.map { ShownList(entry: ListEntry($0), isChanging: true) }
    }

    func freshness(of record: ListRecord, _ list: some ModelList, _ bookkeeping: Bookkeeping) -> Freshness {
        if bookkeeping.isInvalidated(record.state, in: Self.scopes(of: list)) {
            return .stale(since: nil, because: .invalidated)
        }
        if record.state.isRefused { return .stale(since: nil, because: .cursorRefused) }
        if !record.state.varying.isEmpty, !record.state.matches(list.request(after: nil)) {
            return .stale(since: nil, because: .otherVariant)
        }
        return freshness(of: record.state)
    }

    static func scopes(of list: some ModelList) -> [InvalidationScope] {
        [.list(list)] + list.tags.map(InvalidationScope.tag)
    }
}
