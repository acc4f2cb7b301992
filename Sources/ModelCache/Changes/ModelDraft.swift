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
    /// Opens the step's table.
    ///
    /// - Returns: shows the step over its entry. Does no I/O, as those below.
    nonisolated(nonsending) func show(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void
    /// - Returns: takes the step away.
    nonisolated(nonsending) func undo(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void
    /// Reads the step's entry. Runs in a turn of merges.
    ///
    /// - Returns: makes the step part of its entry.
    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> PreparedMerge
}

struct ModelStep<Model: CachedModel>: DraftStep {
    let key: String
    let change: Layers<Model>.Change

    var name: EntryName { ModelTable<Model>.name(key) }

    nonisolated(nonsending) func show(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void {
        let table = try await engine.table(Model.self)
        return { table.layers.add(number, over: key, change) }
    }

    nonisolated(nonsending) func undo(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void {
        let table = try await engine.table(Model.self)
        return { table.layers.remove(number, over: key) }
    }

    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> PreparedMerge {
        let table = try await engine.table(Model.self)
        let bookkeeping = try await engine.bookkeeping()
        let stored = try await engine.record(table.records, key)
        let clock = engine.clock
        return {
            // Another step of the same draft may have changed it.
            let old = table.records.waitingEntry(key) ?? stored
            let record = merged(over: old, revision, bookkeeping, at: clock.now)
            table.layers.remove(number, over: key)
            return table.merged(key, to: record)
        }
    }

    /// The entry with the step; `nil` if there is none.
    private func merged(
        over old: ModelRecord<Model>?,
        _ revision: Revision,
        _ bookkeeping: Bookkeeping,
        at now: Date
    ) -> ModelRecord<Model>? {
        var model = old?.model
        change(&model)
        guard let model else { return nil }
        guard let old else {
            let state = EntryState(
                ResponseLifetime(at: now),
                generation: bookkeeping.generation,
                revision: revision,
                receivedAt: now,
                fresh: Model.policy.fresh
            )
            return ModelRecord(model: model, state: state)
        }
        // The changed fields are the program's own; the others are as old as they were.
        var state = old.state
        state.generation = bookkeeping.generation
        state.revision = revision
        // The new revision is behind the invalidation.
        let scopes = ModelEngine.scopes(of: old.model, key)
        if bookkeeping.isInvalidated(old.state, in: scopes) { state.freshUntil = now }
        if model != old.model { state.validators = nil }
        return ModelRecord(model: model, state: state)
    }
}

struct ListStep: DraftStep {
    let key: String
    let tags: Set<String>
    let change: Layers<ListRecord>.Change

    var name: EntryName { ListTable.name(key) }

    nonisolated(nonsending) func show(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void {
        let table = try await engine.lists()
        return { table.layers.add(number, over: key, change) }
    }

    nonisolated(nonsending) func undo(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void {
        let table = try await engine.lists()
        return { table.layers.remove(number, over: key) }
    }

    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> PreparedMerge {
        let table = try await engine.lists()
        let bookkeeping = try await engine.bookkeeping()
        let stored = try await engine.record(table.records, key)
        let clock = engine.clock
        return {
            let old = (table.records.waitingEntry(key) ?? stored)?.record
            let record = merged(over: old, revision, bookkeeping, at: clock.now)
            table.layers.remove(number, over: key)
            let due = table.records.change(key, to: record.map { ListEntry($0) }, tags: tags)
            return MergedGroup(model: nil, due: due) { table.records.write(due) }
        }
    }

    private func merged(
        over old: ListRecord?,
        _ revision: Revision,
        _ bookkeeping: Bookkeeping,
        at now: Date
    ) -> ListRecord? {
        var record = old
        change(&record)
        // An answer that was asked for before does not take the change back.
        guard record != old else { return record }
        let scopes = [InvalidationScope(key: "l:\(key)")] + tags.map(InvalidationScope.tag)
        if let old, bookkeeping.isInvalidated(old.state, in: scopes) { record?.state.freshUntil = now }
        record?.state.generation = bookkeeping.generation
        record?.state.revision = revision
        record?.state.validators = nil
        return record
    }
}
