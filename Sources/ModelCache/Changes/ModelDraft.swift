import Foundation

/// Changes of models and lists that are made together. See ``ModelCache/ModelCache/change(_:sending:then:)``.
public struct ModelDraft: Sendable {
    var steps: [any DraftStep] = []

    init() {}

    /// Changes a model; nothing, if it is not there.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: its identity.
    ///   - edit: runs again whenever the model changes below, so it should do nothing but change the model.
    public mutating func update<Model: CachedModel>(
        _ type: Model.Type,
        id: Model.ID,
        _ edit: @escaping @Sendable (inout Model) -> Void
    ) {
        steps.append(
            ModelStep<Model>(key: id.cacheKey) { model in
                guard var changed = model else { return }
                edit(&changed)
                model = changed
            }
        )
    }

    /// Puts a model in the place of the one with its identity, or adds it.
    public mutating func save<Model: CachedModel>(_ model: Model) {
        steps.append(ModelStep<Model>(key: model.id.cacheKey) { $0 = model })
    }

    /// Removes a model. It leaves no hole in the lists that have it, as long as the change is not confirmed.
    public mutating func remove<Model: CachedModel>(_ type: Model.Type, id: Model.ID) {
        steps.append(ModelStep<Model>(key: id.cacheKey) { $0 = nil })
    }

    /// Saves a model, and puts it into a list. A list that is not stored is not changed.
    public mutating func insert<List: ModelList>(_ model: List.Element, into list: List, at place: ListPlace) {
        save(model)
        insert(id: model.id, into: list, at: place)
    }

    /// Puts a model into a list by its identity. A list that is not stored is not changed.
    public mutating func insert<List: ModelList>(id: List.Element.ID, into list: List, at place: ListPlace) {
        let key = id.cacheKey
        steps.append(ListStep(key: list.listKey, tags: list.tags) { $0?.insert(key, at: place) })
    }

    /// Takes a model out of a list. The model itself stays.
    public mutating func remove<List: ModelList>(id: List.Element.ID, from list: List) {
        let key = id.cacheKey
        steps.append(ListStep(key: list.listKey, tags: list.tags) { $0?.remove(key) })
    }
}

/// One step of a draft.
protocol DraftStep: Sendable {
    var name: EntryName { get }
    /// Shows the step over its entry.
    nonisolated(nonsending) func show(_ number: UInt64, in engine: ModelEngine) async throws(ModelCacheError)
    /// Takes the step away.
    nonisolated(nonsending) func undo(_ number: UInt64, in engine: ModelEngine) async throws(ModelCacheError)
    /// Makes the step part of its entry. Runs in a turn of merges.
    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> MergedGroup
}

struct ModelStep<Model: CachedModel>: DraftStep {
    let key: String
    let change: Layers<Model>.Change

    var name: EntryName { ModelTable<Model>.name(key) }

    nonisolated(nonsending) func show(_ number: UInt64, in engine: ModelEngine) async throws(ModelCacheError) {
        try await engine.table(Model.self).layers.add(number, over: key, change)
    }

    nonisolated(nonsending) func undo(_ number: UInt64, in engine: ModelEngine) async throws(ModelCacheError) {
        try await engine.table(Model.self).layers.remove(number, over: key)
    }

    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> MergedGroup {
        let table = try await engine.table(Model.self)
        let bookkeeping = try await engine.bookkeeping()
        let old = try await engine.record(table.records, key)
        try engine.checkUsable()
        var model = old?.model
        change(&model)
        let now = engine.clock.now
        let record = model.map { model in
            var state = EntryState(
                ResponseLifetime(at: now),
                generation: bookkeeping.generation,
                revision: revision,
                receivedAt: now,
                fresh: Model.policy.fresh
            )
            // The program knows what it has changed; the rest is as old as it was.
            if let old {
                let isInvalidated = bookkeeping.isInvalidated(
                    old.state,
                    in: ModelEngine.scopes(of: old.model, key)
                )
                state = old.state
                state.generation = bookkeeping.generation
                state.revision = revision
                // The new revision is behind the invalidation.
                if isInvalidated { state.freshUntil = now }
                if model != old.model { state.validators = nil }
            }
            return ModelRecord(model: model, state: state)
        }
        var written: [WaitingChanges.Due] = []
        table.layers.remove(number, over: key) {
            written = table.records.change(key, to: record, tags: record?.model.tags ?? [])
        }
        let due = written
        return MergedGroup(names: [name], count: 1) { table.records.write(due) }
    }
}

struct ListStep: DraftStep {
    let key: String
    let tags: Set<String>
    let change: Layers<ListRecord>.Change

    var name: EntryName { ListTable.name(key) }

    nonisolated(nonsending) func show(_ number: UInt64, in engine: ModelEngine) async throws(ModelCacheError) {
        try await engine.lists().layers.add(number, over: key, change)
    }

    nonisolated(nonsending) func undo(_ number: UInt64, in engine: ModelEngine) async throws(ModelCacheError) {
        try await engine.lists().layers.remove(number, over: key)
    }

    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> MergedGroup {
        let table = try await engine.lists()
        let bookkeeping = try await engine.bookkeeping()
        let old = try await engine.record(table.records, key)?.record
        var record = old
        try engine.checkUsable()
        change(&record)
        // An answer that was asked for before does not take the change back.
        if record != old {
            let scopes = [InvalidationScope(key: "l:\(key)")] + tags.map(InvalidationScope.tag)
            if let old, bookkeeping.isInvalidated(old.state, in: scopes) {
                record?.state.freshUntil = engine.clock.now
            }
            record?.state.generation = bookkeeping.generation
            record?.state.revision = revision
            record?.state.validators = nil
        }
        let changed = record.map(ListEntry.init)
        var written: [WaitingChanges.Due] = []
        table.layers.remove(number, over: key) {
            written = table.records.change(key, to: changed, tags: tags)
        }
        let due = written
        return MergedGroup(names: [name], count: 1) { table.records.write(due) }
    }
}
