import Foundation

// Loading several models at once.

extension ModelEngine {
    /// Some models, by identity: those that are stored and fresh, and the others after one load; stale ones where that
    /// fails. Identities that the server does not know are left out.
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
        let isOffline = self.mode.withLock { $0 } == .offline
        for (id, snapshot) in zip(distinct, try await snapshots(type, distinct.map(\.cacheKey))) {
            let snapshot: ModelSnapshot<Model>? = snapshot
            if let snapshot { found[id] = snapshot }
            if snapshot == nil, try await isRemovedByChanges(type, id.cacheKey) { continue }
            if isOffline || (mode != .reload && snapshot?.freshness.isFresh == true) { continue }
            if mode != .reload, let snapshot,
                try await servesWhileLoading(type, id, freshness: snapshot.freshness, mode: mode)
            {
                refreshed.append(id)
            } else {
                wanted.append(id)
            }
        }
        try await refresh(type, refreshed)
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
        guard let limit = mode.limit else { return try await load(type, ids, mode: mode) }
        return try await waiting(atMost: limit) { [self] in
            try await load(type, ids, mode: .automatic)
        } orElse: { () async throws(ModelCacheError) in
            guard try await mayShowStored(type, ids) else { return nil }
            let snapshots: [ModelSnapshot<Model>?] = try await snapshots(type, ids.map(\.cacheKey))
            return Dictionary(uniqueKeysWithValues: zip(ids, snapshots))
        }
    }

    /// Loads some models by requests for several where the type has them, or by one each.
    private nonisolated(nonsending) func load<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID],
        mode: FetchMode
    ) async throws -> [Model.ID: ModelSnapshot<Model>?] {
        if let batches = Self.batches(type, ids) {
            let loaded = try await fewAtATime(batches) { [self] batch in
                do {
                    try checkDue(batch.request, mode)
                    return try await load(batch)
                } catch {
                    return try await stale(type, batch.ids, mode: mode, after: error)
                }
            }
            return loaded.reduce(into: [:]) { all, part in all.merge(part.1) { $1 } }
        }
        let loaded = try await fewAtATime(ids) { [self] id -> ModelSnapshot<Model>? in
            do {
                return try await fetch(type, id, mode: mode)
            } catch let error as ModelCacheError where error.code == .notFound {
                return nil
            }
        }
        return Dictionary(uniqueKeysWithValues: loaded)
    }

    /// Loads some models as ``load(_:_:mode:)``. Failures are reported, each by itself.
    ///
    /// - Returns: the identities of models that the server does not have.
    /// - Throws: `CancellationError`.
    nonisolated(nonsending) func loadEach<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID]
    ) async throws -> [Model.ID] {
        if let batches = Self.batches(type, ids) {
            return try await fewAtATime(batches) { [self] batch -> [Model.ID] in
                do {
                    try checkDue(batch.request)
                    let loaded = try await load(batch)
                    return batch.ids.filter { loaded[$0] == .some(nil) }
                } catch {
                    try reportUnlessCancelled(error)
                    return []
                }
            }.flatMap(\.1)
        }
        return try await fewAtATime(ids) { [self] id -> [Model.ID] in
            do {
                try checkDue(Model.request(for: id))
                _ = try await load(type, id)
                return []
            } catch {
                if ModelCacheError.Code.notFound ~= LoadFailure.cause(of: error) { return [id] }
                try reportUnlessCancelled(error)
                return []
            }
        }.flatMap(\.1)
    }

    private func reportUnlessCancelled(_ error: any Error) throws {
        if let cancelled = LoadFailure.cause(of: error) as? CancellationError { throw cancelled }
        reportUnthrown(error)
    }

    /// Loads some models in the background. Failures are reported, each by itself.
    nonisolated(nonsending) func refresh<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID]
    ) async throws(ModelCacheError) {
        guard let first = ids.first else { return }
        let request = Self.batches(type, ids)?.first?.request ?? Model.request(for: first)
        let name = Self.loadName(type, ids, by: request, in: try await bookkeeping())
        loadInBackground(name) { [self] in _ = try await loadEach(type, ids) }
    }

    /// Models that one request asks for.
    private struct Batch<Model: CachedModel>: Sendable {
        let ids: [Model.ID]
        let request: ModelRequest
    }

    /// Some models by the requests that ask for them; `nil`: the type has none, or one model is wanted.
    private static func batches<Model: CachedModel>(_ type: Model.Type, _ ids: [Model.ID]) -> [Batch<Model>]? {
        guard ids.count > 1 else { return nil }
        let limit = max(1, Model.batchLimit)
        var batches: [Batch<Model>] = []
        for start in stride(from: 0, to: ids.count, by: limit) {
            let part = Array(ids[start..<min(start + limit, ids.count)])
            guard let request = Model.request(for: part) else { return nil }
            batches.append(Batch(ids: part, request: request))
        }
        return batches
    }

    /// Has `body` run for each item, for six at once.
    ///
    /// - Throws: the first error; the others are cancelled.
    private nonisolated(nonsending) func fewAtATime<Item: Sendable, Output: Sendable>(
        _ items: [Item],
        _ body: @escaping @Sendable (Item) async throws -> Output
    ) async throws -> [(Item, Output)] {
        try await withThrowingTaskGroup(of: (Item, Output).self) { group in
            var rest = items[...]
            func addNext() {
                guard let item = rest.popFirst() else { return }
                group.addTask { (item, try await body(item)) }
            }
            for _ in 0..<6 { addNext() }
            var outputs: [(Item, Output)] = []
            while let output = try await group.next() {
                outputs.append(output)
                addNext()
            }
            return outputs
        }
    }

    private nonisolated(nonsending) func load<Model: CachedModel>(
        _ batch: Batch<Model>
    ) async throws -> [Model.ID: ModelSnapshot<Model>?] {
        let name = Self.loadName(Model.self, batch.ids, by: batch.request, in: try await bookkeeping())
        return try await loads.join(name) { [self] in
            try await loadOnce(Model.self, batch.ids, by: batch.request)
        }
    }

    /// The name of a load. All else is as for one model.
    ///
    /// - Parameter request: for all of them, or for the first one.
    private static func loadName<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID],
        by request: ModelRequest,
        in bookkeeping: Bookkeeping
    ) -> String {
        let scopes = [.type(type)] + ids.map { InvalidationScope.model(type, id: $0) }
        let invalidation = bookkeeping.latestInvalidation(of: scopes, anyTag: true)
        let keys = ids.map(\.cacheKey).sorted().joined(separator: "\u{0}")
        return "b/\(invalidation.number)/\(request.variant)/\(Model.modelName)/\(keys)"
    }

    private nonisolated(nonsending) func loadOnce<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID],
        by request: ModelRequest,
        attempts: Int = attempts
    ) async throws -> [Model.ID: ModelSnapshot<Model>?] {
        let bookkeeping = try await bookkeeping()
        let subject = ModelCacheError.Subject.models(type)
        let answer = try await send(request, for: subject, bookkeeping)
        guard (200..<300).contains(answer.response.status) else { throw refusal(of: subject, by: answer) }
        let body = ModelBody(answer.response, decoder: makeDecoder)
        let models: [Model]
        do {
            models = try Model.models(in: body)
        } catch {
            throw ModelCacheError(
                .decodingFailed,
                "the answer for \(subject) is no array",
                of: subject,
                cause: error
            )
        }
        var found: [Model.ID: ModelSnapshot<Model>?] = [:]
        for id in ids { found[id] = .some(nil) }
        // The server may have added models that were not asked for.
        for model in models where found[model.id] != nil { found[model.id] = Self.unstored(model, of: answer) }
        guard answer.lifetime.isStored else { return found }
        for (id, model) in found where model == nil {
            try await remove(type, id.cacheKey, asOf: answer.revision)
        }
        var arrivals = Arrivals()
        arrivals.add(body.nested)
        arrivals.add(models, from: .detail)
        // The validators are those of all of them together.
        var lifetime = answer.lifetime
        lifetime.validators = nil
        try await merge(
            arrivals,
            ArrivalState(lifetime: lifetime, revision: answer.revision, receivedAt: answer.receivedAt)
        )
        let table = try await table(type)
        let keys = models.cacheKeys
        let merged = try await records(table.records, keys)
        let overtaken = models.indices.filter { index in
            Self.hasOvertaken(
                merged[index],
                models[index],
                key: keys[index],
                in: table,
                of: answer,
                bookkeeping: bookkeeping
            )
        }
        let isChanged = models.indices.contains { index in
            merged[index].map { hasChanged($0.state, since: answer, in: bookkeeping) } ?? false
        }
        if !overtaken.isEmpty || isChanged, attempts > 1 {
            return try await loadOnce(type, ids, by: request, attempts: attempts - 1)
        }
        let given = Set(overtaken.map { models[$0].id })
        // The server has not left them out.
        let known = ids.filter { found[$0] != .some(nil) && !given.contains($0) }
        let snapshots: [ModelSnapshot<Model>?] = try await snapshots(Model.self, known.map(\.cacheKey))
        // Looked at after the snapshots, which may be of later answers.
        let present = try await records(table.records, known.map(\.cacheKey))
        for (index, snapshot) in snapshots.enumerated() {
            guard let snapshot else {
                if try await isRemovedByChanges(type, known[index].cacheKey) { found[known[index]] = .some(nil) }
                continue
            }
            if let record = present[index],
                isOtherVariant(record.state, of: request, after: answer, in: bookkeeping)
            {
                continue
            }
            found[snapshot.value.id] = snapshot
        }
        let isInvalidated = models.indices.contains { index in
            merged[index].map { wasInvalidated($0, keys[index], after: answer, in: bookkeeping) } ?? false
        }
        if isInvalidated {
            loadInBackground(Self.loadName(type, ids, by: request, in: bookkeeping)) { [self] in
                try await loadOnce(type, ids, by: request)
            }
        }
        return found
    }

    /// No models, where the stored ones may be shown in the place of those that could not be loaded.
    ///
    /// - Throws: the error, if one of them is not stored, or must not be shown.
    private nonisolated(nonsending) func stale<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID],
        mode: FetchMode,
        after error: any Error
    ) async throws -> [Model.ID: ModelSnapshot<Model>?] {
        let cause = LoadFailure.cause(of: error)
        if mode == .reload || !Self.allowsStale(cause) { throw cause }
        guard try await mayShowStored(type, ids) else { throw cause }
        reportUnthrown(error)
        return [:]
    }

    /// Whether all of some models are stored and may be shown where they cannot be loaded.
    private nonisolated(nonsending) func mayShowStored<Model: CachedModel>(
        _ type: Model.Type,
        _ ids: [Model.ID]
    ) async throws(ModelCacheError) -> Bool {
        let table = try await table(type)
        let records = try await records(table.records, ids.map(\.cacheKey))
        for (index, id) in ids.enumerated() {
            guard let record = records[index], record.state.isWithin(record.state.staleIfError, at: clock.now),
                record.state.varying.isEmpty || record.state.matches(Model.request(for: id))
            else { return false }
        }
        return true
    }
}
