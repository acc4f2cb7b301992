import Foundation

/// Fetches and loads models.
struct Loader: Sendable {
    let tables: ModelTables
    let snapshots: Snapshots
    let merger: Merger
    let fetcher: Fetcher

    var server: Server { fetcher.server }

    /// A model as a fetch gives it.
    nonisolated(nonsending) func fetch<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID,
        mode: FetchMode
    ) async throws -> ModelSnapshot<Model> {
        let target = ModelLoad<Model>(loader: self, id: id)
        let stored = try await target.stored()
        if stored == nil { try await target.checkNotRemoved() }
        return try await fetcher.fetch(target, stored: stored, mode)
    }

    /// Fetches several models, by identity. Fresh models come from the store, missing and stale ones from one load; where that
    /// fails, stale models are returned. Identities that the server does not know are left out.
    nonisolated(nonsending) func fetch<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID],
        mode: FetchMode
    ) async throws -> [Model.ID: ModelSnapshot<Model>] {
        var distinct: [Model.ID] = []
        var seen = Set<Model.ID>()
        for id in ids where seen.insert(id).inserted { distinct.append(id) }
        var found: [Model.ID: ModelSnapshot<Model>] = [:]
        var wanted: [Model.ID] = []
        var refreshed: [Model.ID] = []
        let isOffline = server.mode.withLock { $0 } == .offline
        for (id, snapshot) in zip(distinct, try await snapshots.snapshots(type, distinct.map(\.cacheKey))) {
            let snapshot: ModelSnapshot<Model>? = snapshot
            if let snapshot { found[id] = snapshot }
            if snapshot == nil, try await snapshots.isRemovedByChanges(type, id.cacheKey) { continue }
            if isOffline || (mode != .reload && snapshot?.freshness.isFresh == true) { continue }
            if mode != .reload, let snapshot,
                try await fetcher.servesWhileLoading(
                    ModelLoad<Model>(loader: self, id: id),
                    snapshot.freshness,
                    mode: mode
                )
            {
                refreshed.append(id)
            } else {
                wanted.append(id)
            }
        }
        refresh(type, refreshed)
        guard !wanted.isEmpty else { return found }
        for (id, snapshot) in try await load(type, wanted, within: mode) { found[id] = snapshot }
        return found
    }

    /// Loads some models, up to the mode's limit where all of them may be shown as they are stored.
    private nonisolated(nonsending) func load<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID],
        within mode: FetchMode
    ) async throws -> [Model.ID: ModelSnapshot<Model>?] {
        let load = { @Sendable [self] in
            try await loadParts(type, ids, mode: mode) { part, error in
                // Stored models may be shown where the load failed.
                let cause = LoadFailure.cause(of: error)
                guard mode != .reload, Fetcher.allowsStale(cause), try await mayShowStored(type, part) else {
                    throw cause
                }
                fetcher.reportUnthrown(error)
            }
        }
        guard let limit = mode.limit else { return try await load() }
        return try await fetcher.waiting(atMost: limit, load) { () async throws(ModelCacheError) in
            guard try await mayShowStored(type, ids) else { return nil }
            let stored: [ModelSnapshot<Model>?] = try await snapshots.snapshots(type, ids.map(\.cacheKey))
            return Dictionary(uniqueKeysWithValues: zip(ids, stored))
        }
    }

    /// Loads some models. Failures are reported, each by itself.
    ///
    /// - Returns: the identities of models that the server does not have.
    /// - Throws: `CancellationError`.
    nonisolated(nonsending) func loadEach<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID]
    ) async throws -> [Model.ID] {
        let loaded = try await loadParts(type, ids, mode: .automatic) { _, error in
            if let cancelled = LoadFailure.cause(of: error) as? CancellationError { throw cancelled }
            fetcher.reportUnthrown(error)
        }
        return ids.filter { loaded[$0] == .some(nil) }
    }

    /// Loads some models in the background. Failures are reported, each by itself.
    private func refresh<Model: CachedModel>(_ type: Model.Type, _ ids: [Model.ID]) {
        guard let first = ids.first else { return }
        let batches = batches(type, ids)
        let all = BatchLoad<Model>(
            loader: self,
            ids: ids,
            request: batches?.first?.request ?? Model.request(for: first)
        )
        fetcher.loadInBackground(all.name) { [self] in _ = try await loadEach(type, ids) }
    }

    /// Loads some models by requests for several where the type has them, or by one each.
    ///
    /// - Parameter onFailure: is given the failure of a part.
    /// - Returns: the loaded models; `nil` for each model that the server does not have.
    private nonisolated(nonsending) func loadParts<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID],
        mode: FetchMode,
        onFailure: @escaping @Sendable ([Model.ID], any Error) async throws -> Void
    ) async throws -> [Model.ID: ModelSnapshot<Model>?] {
        let isBatched: Bool
        let parts: [BatchLoad<Model>]
        if let batches = batches(type, ids) {
            (parts, isBatched) = (batches, true)
        } else {
            parts = ids.map { BatchLoad(loader: self, ids: [$0], request: Model.request(for: $0)) }
            isBatched = false
        }
        let loaded = try await fewAtATime(parts) { part -> [Model.ID: ModelSnapshot<Model>?] in
            do {
                try server.checkDue(part.request, mode)
                if isBatched { return try await load(part) }
                let id = part.ids[0]
                return [id: try await fetcher.load(ModelLoad<Model>(loader: self, id: id))]
            } catch {
                var found: [Model.ID: ModelSnapshot<Model>?] = [:]
                if !isBatched, ModelCacheError.Code.notFound ~= LoadFailure.cause(of: error) {
                    found[part.ids[0]] = .some(nil)
                } else {
                    try await onFailure(part.ids, error)
                }
                return found
            }
        }
        return loaded.reduce(into: [:]) { all, part in all.merge(part) { $1 } }
    }

    /// Some models by the requests that ask for them; `nil`: the type has none, or one model is wanted.
    private func batches<Model: CachedModel>(_ type: Model.Type, _ ids: [Model.ID]) -> [BatchLoad<Model>]? {
        guard ids.count > 1 else { return nil }
        let limit = max(1, Model.batchLimit)
        var batches: [BatchLoad<Model>] = []
        for start in stride(from: 0, to: ids.count, by: limit) {
            let part = Array(ids[start..<min(start + limit, ids.count)])
            guard let request = Model.request(for: part) else { return nil }
            batches.append(BatchLoad(loader: self, ids: part, request: request))
        }
        return batches
    }

    private func load<Model: CachedModel>(
        _ batch: BatchLoad<Model>
    ) async throws -> [Model.ID: ModelSnapshot<Model>?] {
        try await fetcher.loads.join(batch.name) { try await batch.outcome() ?? [:] }
    }

    /// Has `body` run for each item, for six at once.
    ///
    /// - Throws: the first error; the others are cancelled.
    private nonisolated(nonsending) func fewAtATime<Item: Sendable, Output: Sendable>(
        _ items: [Item],
        _ body: @escaping @Sendable (Item) async throws -> Output
    ) async throws -> [Output] {
        try await withThrowingTaskGroup(of: Output.self) { group in
            var rest = items[...]
            func addNext() {
                guard let item = rest.popFirst() else { return }
                group.addTask { try await body(item) }
            }
            for _ in 0..<6 { addNext() }
            var outputs: [Output] = []
            while let output = try await group.next() {
                outputs.append(output)
                addNext()
            }
            return outputs
        }
    }

    /// Whether all of some models are stored and may be shown where they cannot be loaded.
    private nonisolated(nonsending) func mayShowStored<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID]
    ) async throws(ModelCacheError) -> Bool {
        let records = try await tables.records(tables.table(type).records, ids.map(\.cacheKey))
        for (index, id) in ids.enumerated() {
            guard let record = records[index], record.state.isWithin(record.state.staleIfError, at: server.now),
                record.state.varying.isEmpty || record.state.matches(Model.request(for: id))
            else { return false }
        }
        return true
    }
}

/// A value and the models that links held in its answer.
struct Decoded<Value: Sendable>: Sendable {
    let value: Value
    let nested: NestedModels
}
