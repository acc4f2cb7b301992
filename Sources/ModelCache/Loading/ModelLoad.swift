/// The load of one model.
struct ModelLoad<Model: CachedModel>: FetchTarget {
    let loader: Loader
    let id: Model.ID
    var former: EntryState?
    var isLast = false

    private var key: String { id.cacheKey }
    private var bookkeeping: Bookkeeping { loader.tables.bookkeeping }

    var server: Server { loader.server }
    var subject: ModelCacheError.Subject { .model(Model.self, key: key) }
    var request: ModelRequest { Model.request(for: id) }

    var name: String {
        let scopes: [InvalidationScope] = [.type(Model.self), .model(Model.self, key: key)]
        let invalidation = bookkeeping.latestInvalidation(of: scopes, anyTag: true)
        return "m/\(invalidation.number)/\(request.variant)/\(Model.modelName)/\(key)"
    }

    nonisolated(nonsending) func stored() async throws(ModelCacheError) -> ModelSnapshot<Model>? {
        try await loader.snapshots.snapshot(Model.self, key)
    }

    nonisolated(nonsending) func storedState() async throws(ModelCacheError) -> EntryState? {
        try await loader.tables.record(Model.self, key)?.state
    }

    /// - Throws: `.notFound`, if a change that is not confirmed removes the model.
    nonisolated(nonsending) func checkNotRemoved() async throws(ModelCacheError) {
        guard try await loader.snapshots.isRemovedByChanges(Model.self, key) else { return }
        throw ModelCacheError(.notFound, "a change that is not confirmed yet removes \(subject)", of: subject)
    }

    nonisolated(nonsending) mutating func begin() async throws -> Bool {
        let old = try await loader.tables.record(Model.self, key)
        // An incomplete model cannot be confirmed as a whole.
        former = old.flatMap { $0.isComplete ? $0.state : nil }
        return true
    }

    nonisolated(nonsending) func renewed(by answer: Answer) async throws -> ModelSnapshot<Model>? {
        let renewed = try await loader.merger.renew(Model.self, key, sent: former?.validators, by: answer)
        guard let renewed else { return nil }
        return try await shown(renewed, after: answer)
    }

    nonisolated(nonsending) func refuse(_ answer: Answer) async throws {
        guard [404, 410].contains(answer.response.status) else { throw server.refusal(of: subject, by: answer) }
        try await loader.merger.remove(Model.self, key, asOf: answer.revision)
        throw server.refusal(.notFound, "the server has no \(subject)", of: subject, by: answer)
    }

    nonisolated(nonsending) func content(of answer: Answer) async throws -> Decoded<Model> {
        let content = try server.decode(answer, of: subject, or: "the answer for \(subject) cannot be decoded") {
            Decoded(value: try Model.model(in: $0), nested: $0.nested)
        }
        // Which of the two is wrong is not known, so nothing of the answer is kept.
        guard content.value.id.cacheKey == key else {
            let other = ModelCacheError.line(content.value.id.cacheKey)
            let fault = "the server was asked for \(subject), and answered with \(other)"
            throw ModelCacheError(.decodingFailed, fault, of: subject)
        }
        return content
    }

    func unkept(_ content: Decoded<Model>, of answer: Answer) -> ModelSnapshot<Model> {
        ModelSnapshot(unkept: content.value, of: answer)
    }

    nonisolated(nonsending) func merged(
        _ content: Decoded<Model>,
        of answer: Answer
    ) async throws -> ModelSnapshot<Model>? {
        var arrivals = Arrivals()
        arrivals.add(content.nested)
        arrivals.add([content.value], from: .detail)
        try await loader.merger.merge(arrivals, answer.state)
        let table = try await loader.tables.table(Model.self)
        let merged = try await loader.tables.record(table.records, key)
        let isOvertaken = table.hasOvertaken(content.value, of: answer, merged: merged, key: key, in: bookkeeping)
        if !isLast, isOvertaken || bookkeeping.hasChanged(merged?.state, since: answer) { return nil }
        if isOvertaken { return unkept(content, of: answer) }
        let state = bookkeeping.state(of: answer.state, fresh: Model.policy.freshness)
        let snapshot = try await shown(merged ?? ModelRecord(model: content.value, state: state), after: answer)
        // Looked at after the snapshot, which may be of a later answer.
        let present = try await storedState()
        return bookkeeping.isOtherVariant(present, of: request, after: answer)
            ? unkept(content, of: answer) : snapshot
    }

    /// The result of a load; begins one more load where the model was invalidated in the meantime.
    private nonisolated(nonsending) func shown(
        _ record: ModelRecord<Model>,
        after answer: Answer
    ) async throws(ModelCacheError) -> ModelSnapshot<Model> {
        // Before that load begins, so that its answer does not count as a result of this one.
        let snapshot = try await stored()
        if loader.snapshots.wasInvalidated(record, key, after: answer) { loader.fetcher.refresh(self) }
        if let snapshot { return snapshot }
        try await checkNotRemoved()
        return ModelSnapshot(
            value: record.model,
            fetchedAt: record.state.fetchedAt,
            freshness: loader.snapshots.freshness(of: record, key),
            isChanging: false
        )
    }
}
