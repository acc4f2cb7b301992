/// The load of several models by one request. A model that the answer leaves out is `nil`.
struct BatchLoad<Model: CachedModel>: Attempt {
    typealias Outcome = [Model.ID: ModelSnapshot<Model>?]

    let loader: Loader
    let ids: [Model.ID]
    /// For all of them, or for the first one.
    let request: ModelRequest
    var isLast = false

    private var bookkeeping: Bookkeeping { loader.tables.bookkeeping }

    var server: Server { loader.server }
    var subject: ModelCacheError.Subject { .models(Model.self) }

    /// As for one model.
    var name: String {
        let scopes = [.type(Model.self)] + ids.map { InvalidationScope.model(Model.self, id: $0) }
        let invalidation = bookkeeping.latestInvalidation(of: scopes, anyTag: true)
        let keys = ids.map(\.cacheKey).sorted().joined(separator: "\u{0}")
        return "b/\(invalidation.number)/\(request.variant)/\(Model.modelName)/\(keys)"
    }

    nonisolated(nonsending) func content(of answer: Answer) async throws -> Decoded<[Model]> {
        try server.decode(answer, of: subject, or: "the answer for \(subject) is no array") {
            Decoded(value: try Model.models(in: $0), nested: $0.nested)
        }
    }

    func unkept(_ content: Decoded<[Model]>, of answer: Answer) -> Outcome {
        var found = Outcome()
        for id in ids { found[id] = .some(nil) }
        // The server may have added models that were not asked for.
        for model in content.value where found[model.id] != nil {
            found[model.id] = ModelSnapshot(unkept: model, of: answer)
        }
        return found
    }

    nonisolated(nonsending) func merged(_ content: Decoded<[Model]>, of answer: Answer) async throws -> Outcome? {
        var found = unkept(content, of: answer)
        for id in ids where found[id] == .some(nil) {
            try await loader.merger.remove(Model.self, id.cacheKey, asOf: answer.revision)
        }
        let models = content.value
        var arrivals = Arrivals()
        arrivals.add(content.nested)
        arrivals.add(models, from: .detail)
        // The answer's validators belong to the whole array, not to one model.
        var lifetime = answer.lifetime
        lifetime.validators = nil
        try await loader.merger.merge(arrivals, answer.state(lifetime))
        let table = try await loader.tables.table(Model.self)
        let arrived = models.cacheKeys
        let merged = try await loader.tables.records(table.records, arrived)
        let overtaken = models.indices.filter {
            table.hasOvertaken(models[$0], of: answer, merged: merged[$0], key: arrived[$0], in: bookkeeping)
        }
        let isChanged = models.indices.contains { bookkeeping.hasChanged(merged[$0]?.state, since: answer) }
        if !isLast, !overtaken.isEmpty || isChanged { return nil }
        let given = Set(overtaken.map { models[$0].id })
        // The server has not left them out.
        let known = ids.filter { found[$0] != .some(nil) && !given.contains($0) }
        let keys = known.map(\.cacheKey)
        let snapshots: [ModelSnapshot<Model>?] = try await loader.snapshots.snapshots(Model.self, keys)
        // Looked at after the snapshots, which may be of later answers.
        let present = try await loader.tables.records(table.records, keys)
        for (index, snapshot) in snapshots.enumerated() {
            guard let snapshot else {
                if try await loader.snapshots.isRemovedByChanges(Model.self, keys[index]) {
                    found[known[index]] = .some(nil)
                }
                continue
            }
            if bookkeeping.isOtherVariant(present[index]?.state, of: request, after: answer) { continue }
            found[snapshot.value.id] = snapshot
        }
        let isInvalidated = models.indices.contains { index in
            merged[index].map { loader.snapshots.wasInvalidated($0, arrived[index], after: answer) } ?? false
        }
        if isInvalidated { loader.fetcher.loadInBackground(name) { try await outcome() ?? [:] } }
        return found
    }
}
