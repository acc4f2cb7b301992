import Foundation

/// One step of a draft: a change of one entry.
protocol DraftStep: Sendable {
    associatedtype Value: Sendable
    var name: EntryName { get }
    var key: String { get }
    var change: Layers<Value>.Change { get }
    /// Opens the step's table.
    ///
    /// - Returns: the layers over its entries.
    nonisolated(nonsending) func layers(in engine: ModelEngine) async throws(ModelCacheError) -> Layers<Value>
    /// Reads the step's entry. Runs in a turn of merges.
    ///
    /// - Returns: makes the step part of its entry. Does no I/O.
    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> PreparedMerge
}

extension DraftStep {
    /// Opens the step's table.
    ///
    /// - Returns: shows the step over its entry. Does no I/O.
    nonisolated(nonsending) func show(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void {
        let layers = try await layers(in: engine)
        return { layers.add(number, over: key, change) }
    }

    /// As ``show(_:in:)``.
    ///
    /// - Returns: takes the step away.
    nonisolated(nonsending) func undo(
        _ number: UInt64,
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> @Sendable () -> Void {
        let layers = try await layers(in: engine)
        return { layers.remove(number, over: key) }
    }
}

struct ModelStep<Model: CachedModel>: DraftStep {
    let key: String
    let change: Layers<Model>.Change

    var name: EntryName { ModelTable<Model>.name(key) }

    nonisolated(nonsending) func layers(in engine: ModelEngine) async throws(ModelCacheError) -> Layers<Model> {
        try await engine.table(Model.self).layers
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
            // Also where there was nothing to change: the server may have taken the change after an answer that is under way.
            if record == nil { table.removals.add(key, at: revision) }
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
            var state = EntryState(
                ResponseLifetime(at: now),
                generation: bookkeeping.generation(of: revision),
                revision: revision,
                receivedAt: now,
                fresh: Model.policy.fresh
            )
            state.isPartial = Model.partialSources.contains(.pushed)
            return ModelRecord(model: model, state: state)
        }
        // The changed fields are the program's own.
        let scopes = ModelEngine.scopes(of: old.model, key)
        var state = bookkeeping.changed(old.state, to: revision, at: now, in: scopes)
        if model != old.model { state.validators = nil }
        return ModelRecord(model: model, state: state)
    }
}

struct ListStep: DraftStep {
    let key: String
    let tags: Set<String>
    /// Whether the step removes the list, stored or not.
    var isRemoval = false
    let change: Layers<ListRecord>.Change

    var name: EntryName { ListTable.name(key) }

    nonisolated(nonsending) func layers(
        in engine: ModelEngine
    ) async throws(ModelCacheError) -> Layers<ListRecord> {
        try await engine.lists().layers
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
            if isRemoval {
                table.removals.add(key, at: revision)
            } else {
                table.recentChanges.add(key, at: revision, change)
            }
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
        guard let old else { return record }
        let isSame = record == old
        let scopes = [InvalidationScope.list(key: key)] + tags.map(InvalidationScope.tag)
        // Also where there was nothing to change: an answer that is under way may have the element that the change removes.
        record?.markChanged(at: revision, in: scopes, bookkeeping, now: now)
        if isSame { record?.state.validators = old.state.validators }
        return record
    }
}
