import Foundation

/// One step of a draft: a change of one entry.
protocol DraftStep: Sendable {
    associatedtype Value: Sendable
    /// The name of the models; `nil` for lists.
    var modelName: String? { get }
    var key: String { get }
    var change: Layers<Value>.Change { get }
    /// Opens the step's table.
    ///
    /// - Returns: the layers over its entries.
    nonisolated(nonsending) func layers(in tables: ModelTables) async throws(ModelCacheError) -> Layers<Value>
    /// Reads the step's entry. Runs in a turn of merges.
    ///
    /// - Returns: makes the step part of its entry. Does no I/O.
    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> PreparedMerge
}

extension DraftStep {
    var name: EntryName { EntryName(model: modelName, key: key) }

    /// Opens the step's table.
    ///
    /// - Returns: shows the step over its entry, and names that. Does no I/O.
    nonisolated(nonsending) func show(
        _ number: UInt64,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> @Sendable () -> EntryName {
        let layers = try await layers(in: tables)
        return { EntryName(model: modelName, key: layers.add(number, over: key, change)) }
    }

    /// As ``show(_:in:)``.
    ///
    /// - Returns: takes the step away.
    nonisolated(nonsending) func undo(
        _ number: UInt64,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> @Sendable () -> EntryName {
        let layers = try await layers(in: tables)
        return { EntryName(model: modelName, key: layers.remove(number, over: key, isUndone: true)) }
    }
}

struct ModelStep<Model: CachedModel>: DraftStep {
    let key: String
    /// The key that the model has from now on.
    var newKey: String?
    /// Whether the step removes the model, stored or not.
    var isRemoval = false
    let change: Layers<Model>.Change

    var modelName: String? { Model.modelName }

    nonisolated(nonsending) func layers(in tables: ModelTables) async throws(ModelCacheError) -> Layers<Model> {
        try await tables.table(Model.self).layers
    }

    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> PreparedMerge {
        let table = try await tables.table(Model.self)
        let bookkeeping = tables.bookkeeping
        let key = table.layers.key(key)
        let stored = try await tables.record(table.records, key)
        let storedNew: ModelRecord<Model>?
        if let newKey { storedNew = try await tables.record(table.records, newKey) } else { storedNew = nil }
        let clock = tables.clock
        return {
            // Another step of the same draft may have changed it.
            let old = table.records.waitingEntry(key) ?? stored
            var record = merged(over: old, key: key, revision, bookkeeping, at: clock.now)
            // A model that exists by an unconfirmed change alone has this one with it.
            if record == nil, !isRemoval, table.layers.keepConfirmed(number, over: key) { return table.merged([:]) }
            table.layers.remove(number, over: key, isUndone: record == nil && newKey == nil)
            if let newKey {
                table.layers.rename(key, to: newKey)
                let new = (table.records.waitingEntry(newKey) ?? storedNew).flatMap { $0 }
                table.removals.add(key, at: revision)
                return table.merged([key: nil, newKey: new.flatMap { withConfirmed($0, newKey, in: table) }])
            }
            record = record.flatMap { withConfirmed($0, key, in: table) }
            // Also where there was nothing to change: the server may have taken the change after an answer that is under way.
            if record == nil { table.removals.add(key, at: revision) }
            return table.merged([key: record])
        }
    }

    /// An entry with the confirmed changes that waited for it; `nil` if one of them removes it.
    private func withConfirmed(
        _ record: ModelRecord<Model>,
        _ key: String,
        in table: ModelTable<Model>
    ) -> ModelRecord<Model>? {
        let changes = table.layers.takeConfirmed(over: key)
        if changes.isEmpty { return record }
        let model = Layers.apply(changes, to: record.model)
        var state = record.state
        if model != record.model { state.validators = nil }
        return model.map { ModelRecord(model: $0, state: state) }
    }

    /// The entry with the step applied; `nil` if the step leaves no model.
    private func merged(
        over old: ModelRecord<Model>?,
        key: String,
        _ revision: Revision,
        _ bookkeeping: Bookkeeping,
        at now: Date
    ) -> ModelRecord<Model>? {
        var model = old?.model
        change(&model)
        guard let model else { return nil }
        guard let old else {
            let arrival = ArrivalState(pushedAt: now, asOf: revision)
            var state = bookkeeping.state(of: arrival, fresh: Model.policy.freshness)
            state.isPartial = Model.partialSources.contains(.pushed)
            return ModelRecord(model: model, state: state)
        }
        // The changed fields are the program's own.
        let scopes = InvalidationScope.all(of: old.model, key)
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

    var modelName: String? { nil }

    nonisolated(nonsending) func layers(
        in tables: ModelTables
    ) async throws(ModelCacheError) -> Layers<ListRecord> {
        try await tables.lists().layers
    }

    nonisolated(nonsending) func commit(
        _ number: UInt64,
        _ revision: Revision,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> PreparedMerge {
        let table = try await tables.lists()
        let bookkeeping = tables.bookkeeping
        let stored = try await tables.record(table.records, key)
        let clock = tables.clock
        return {
            let old = (table.records.waitingEntry(key) ?? stored)?.record
            let change = ordered(beside: table.layers.changes(over: key, except: number), over: old)
            let record = merged(change, over: old, asOf: revision, bookkeeping, at: clock.now)
            table.layers.remove(number, over: key, isUndone: false)
            if isRemoval {
                table.removals.add(key, at: revision)
            } else {
                table.recentChanges.add(key, at: revision, change)
            }
            return table.merged(RecordTable.Changes([(key, record.map { ListEntry($0) }, tags)]))
        }
    }

    /// The change, which says so where its order matters among others that are under way.
    private func ordered(beside others: [Layers<ListRecord>.Change], over old: ListRecord?)
        -> Layers<ListRecord>.Change
    {
        if others.isEmpty { return change }
        let state = EntryState(generation: 0, revision: .none, fetchedAt: ListRecord.never)
        let base = old ?? ListRecord(ids: [], next: nil, modelName: "", tags: [], state: state)
        let before = Layers.apply(others, to: Layers.apply([change], to: base))
        let after = Layers.apply([change], to: Layers.apply(others, to: base))
        if before?.ids == after?.ids { return change }
        return { [change] record in
            change(&record)
            record?.isUnordered = true
        }
    }

    private func merged(
        _ change: Layers<ListRecord>.Change,
        over old: ListRecord?,
        asOf revision: Revision,
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
