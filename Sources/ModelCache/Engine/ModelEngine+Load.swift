import Foundation
import TypedCache

/// An answer and the circumstances of its request.
struct Answer: Sendable {
    let request: ModelRequest
    let response: ModelResponse
    /// The error of a transport that threw the answer.
    let cause: (any Error)?
    let lifetime: ResponseLifetime
    let revision: Revision
    let requestedAt: Date
    let receivedAt: Date

    var state: ArrivalState { ArrivalState(lifetime: lifetime, revision: revision, receivedAt: receivedAt) }
}

// Loading models.

extension ModelEngine {
    /// A model as a fetch gives it.
    nonisolated(nonsending) func fetch<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID,
        mode: FetchMode
    ) async throws -> ModelSnapshot<Model> {
        let stored = try await snapshot(type, id)
        if stored == nil, try await isRemovedByChanges(type, id.cacheKey) { throw Self.removed(type, id.cacheKey) }
        if self.mode.withLock({ $0 }) == .offline {
            guard let stored else {
                let subject = ModelCacheError.Subject.model(type, key: id.cacheKey)
                throw ModelCacheError(.offline, "\(subject) is not stored, and the cache is offline", of: subject)
            }
            return stored
        }
        if let stored, mode != .reload {
            if stored.freshness.isFresh { return stored }
            if try await servesWhileLoading(type, id, freshness: stored.freshness, mode: mode) {
                try await refresh(type, id)
                return stored
            }
        }
        do {
            try checkDue(Model.request(for: id), mode)
            guard let limit = mode.limit, stored != nil else { return try await load(type, id) }
            return try await waiting(atMost: limit) { [self] in
                try await load(type, id)
            } orElse: { () async throws(ModelCacheError) in
                try await servedOnError(type, id)
            }
        } catch {
            let cause = LoadFailure.cause(of: error)
            guard mode != .reload, Self.allowsStale(cause), let stored = try await servedOnError(type, id) else {
                throw cause
            }
            reportUnthrown(error)
            return stored
        }
    }

    private static func removed<Model: CachedModel>(_ type: Model.Type, _ key: String) -> ModelCacheError {
        let subject = ModelCacheError.Subject.model(type, key: key)
        return ModelCacheError(.notFound, "a change that is not confirmed yet removes \(subject)", of: subject)
    }

    /// Whether a stale value may be shown in the place of an error: the server could not be asked, or has failed. Where it
    /// has refused, the asker is told (RFC 9111, section 4.3.3).
    static func allowsStale(_ error: any Error) -> Bool {
        if error is CancellationError { return false }
        guard let error = error as? ModelCacheError else { return true }
        switch error.code {
        case .notFound: return false
        // The statuses of a server that is busy, among those of refusals.
        case .status: return error.status.map { $0 >= 500 || [408, 425, 429].contains($0) } ?? true
        default: return true
        }
    }

    /// Whether a stale model is shown while it is loaded again.
    nonisolated(nonsending) func servesWhileLoading<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID,
        freshness: Freshness,
        mode: FetchMode
    ) async throws(ModelCacheError) -> Bool {
        if mode == .staleWhileRevalidate { return true }
        // The server's window is for expired models, not for invalidated ones or other variants.
        guard freshness.isExpired else { return false }
        let table = try await table(type)
        guard let state = try await record(table.records, id.cacheKey)?.state else { return false }
        return state.isWithin(state.staleWhileRevalidate, at: clock.now)
    }

    /// The stale model, if it may be shown where loading has failed.
    private nonisolated(nonsending) func servedOnError<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID
    ) async throws(ModelCacheError) -> ModelSnapshot<Model>? {
        let table = try await table(type)
        guard let state = try await record(table.records, id.cacheKey)?.state else {
            return try await snapshot(type, id)
        }
        guard state.isWithin(state.staleIfError, at: clock.now), let shown = try await snapshot(type, id),
            !shown.freshness.isOtherVariant
        else { return nil }
        return shown
    }

    /// Loads a model in the background, unless that is under way.
    nonisolated(nonsending) func refresh<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID
    ) async throws(ModelCacheError) {
        let name = Self.loadName(type, id, in: try await bookkeeping())
        guard isDue(Model.request(for: id)) else { return }
        loadInBackground(name) { [self] in try await loadOnce(type, id) }
    }

    /// Begins a load that no task waits for, unless one of this name is under way. Its failure is reported.
    func loadInBackground<Output: Sendable>(
        _ name: String,
        _ body: @escaping @Sendable () async throws -> Output
    ) {
        loads.start(name, body) { [self] in reportUnthrown($0) }
    }

    /// Reports the failure of a load that no caller gets: one in the background, or one that a stale value stands in for. It
    /// is reported once, however many tasks waited for the load.
    func reportUnthrown(_ error: any Error) {
        if let failure = error as? LoadFailure {
            if failure.takeReport() { reportUnthrown(failure.cause) }
            return
        }
        if error is CancellationError { return }
        guard let error = error as? ModelCacheError else {
            return report(ModelCacheError(.transport, "a load failed", cause: error))
        }
        // To have no transport is a setting, not a failure.
        if error.code != .closed, error.code != .noTransport { report(error) }
    }

    /// The name of a load. No load from before an invalidation has it: a fetch that begins later waits for none of those. Nor
    /// has one whose request has other headers, for the answer may depend on them.
    private static func loadName<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID,
        in bookkeeping: Bookkeeping
    ) -> String {
        let invalidation = bookkeeping.latestInvalidation(of: [.type(type), .model(type, id: id)], anyTag: true)
        return "m/\(invalidation.number)/\(Model.request(for: id).variant)/\(Model.modelName)/\(id.cacheKey)"
    }

    /// Loads a model; several that want the same one wait for one load.
    ///
    /// - Throws: a ``LoadFailure``.
    nonisolated(nonsending) func load<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID
    ) async throws -> ModelSnapshot<Model> {
        let name = Self.loadName(type, id, in: try await bookkeeping())
        return try await loads.join(name) { [self] in try await loadOnce(type, id) }
    }

    /// How often a model or a list is asked for whose answers give way to later parts or changes of it.
    static var attempts: Int { 3 }

    private nonisolated(nonsending) func loadOnce<Model: CachedModel>(
        _ type: Model.Type,
        _ id: Model.ID,
        attempts: Int = attempts
    ) async throws -> ModelSnapshot<Model> {
        let table = try await table(type)
        let bookkeeping = try await bookkeeping()
        let key = id.cacheKey
        let request = Model.request(for: id)
        let subject = ModelCacheError.Subject.model(type, key: key)
        let old = try await record(table.records, key)
        // An incomplete model cannot be confirmed as a whole.
        let conditional = old.flatMap { $0.isComplete ? $0.state.conditional(request) : nil }
        var answer = try await send(conditional ?? request, for: subject, bookkeeping)
        if answer.response.status == 304 {
            if conditional != nil,
                let renewed = try await renew(table, key, sent: old?.state.validators, by: answer, in: bookkeeping)
            {
                return try await shown(renewed, id, after: answer, in: bookkeeping)
            }
            // It has gone in the meantime, or is another one's: there is nothing that the server could confirm.
            answer = try await send(request.unconditional, for: subject, bookkeeping)
        }
        switch answer.response.status {
        case 200..<300: break
        case 404, 410:
            try await remove(type, key, asOf: answer.revision)
            throw refusal(.notFound, "the server has no \(subject)", of: subject, by: answer)
        default: throw refusal(of: subject, by: answer)
        }
        let body = ModelBody(answer.response, decoder: makeDecoder)
        let model: Model
        do {
            model = try Model.model(in: body)
        } catch {
            throw ModelCacheError(
                .decodingFailed,
                "the answer for \(subject) cannot be decoded",
                of: subject,
                cause: error
            )
        }
        // Which of the two is wrong is not known, so nothing of the answer is kept.
        guard model.id.cacheKey == key else {
            throw ModelCacheError(
                .decodingFailed,
                "the server was asked for \(subject), and answered with \(ModelCacheError.line(model.id.cacheKey))",
                of: subject
            )
        }
        guard answer.lifetime.isStored else { return Self.unstored(model, of: answer) }
        var arrivals = Arrivals()
        arrivals.add(body.nested)
        arrivals.add([model], from: .detail)
        try await merge(arrivals, answer.state)
        let merged = try await record(table.records, key)
        if let merged, hasChanged(merged.state, since: answer, in: bookkeeping), attempts > 1 {
            return try await loadOnce(type, id, attempts: attempts - 1)
        }
        if Self.hasOvertaken(merged, model, key: key, in: table, of: answer, bookkeeping: bookkeeping) {
            if attempts > 1 { return try await loadOnce(type, id, attempts: attempts - 1) }
            return Self.unstored(model, of: answer)
        }
        let record =
            merged ?? ModelRecord(model: model, state: EntryState(answer, bookkeeping, fresh: Model.policy.fresh))
        let snapshot = try await shown(record, id, after: answer, in: bookkeeping)
        // Looked at after the snapshot, which may be of a later answer.
        if let present = try await self.record(table.records, key),
            isOtherVariant(present.state, of: request, after: answer, in: bookkeeping)
        {
            return Self.unstored(model, of: answer)
        }
        return snapshot
    }

    /// Whether an answer's model gave way to a later change of the entry that the answer is no result beside, so that the
    /// server is asked again: the program removed the model, or changed it before it was there; or a part of it was asked for
    /// later. Merged over the whole model, the part's old fields would count as new.
    static func hasOvertaken<Model: CachedModel>(
        _ stored: ModelRecord<Model>?,
        _ model: Model,
        key: String,
        in table: ModelTable<Model>,
        of answer: Answer,
        bookkeeping: Bookkeeping
    ) -> Bool {
        guard let stored else { return table.removals.covers(answer.revision, of: key) }
        return bookkeeping.comparable(stored.state) > answer.revision && !stored.isComplete
            && Model.isComplete(model)
    }

    /// Whether the program has changed an entry since an answer was asked for. The answer gave way to that change, and the
    /// server's other news went with it, so the server is asked again.
    func hasChanged(_ entry: EntryState, since answer: Answer, in bookkeeping: Bookkeeping) -> Bool {
        // A change leaves the age as it is; a later answer would be younger.
        bookkeeping.comparable(entry) > answer.revision && entry.fetchedAt < answer.requestedAt
    }

    /// Whether an entry is a later answer to a request with other headers, which an answer to this one gave way to.
    func isOtherVariant(
        _ entry: EntryState,
        of request: ModelRequest,
        after answer: Answer,
        in bookkeeping: Bookkeeping
    ) -> Bool {
        bookkeeping.comparable(entry) > answer.revision && entry.isOtherVariant(than: request)
    }

    /// A model that is not kept.
    static func unstored<Model: CachedModel>(_ model: Model, of answer: Answer) -> ModelSnapshot<Model> {
        ModelSnapshot(
            value: model,
            fetchedAt: answer.receivedAt,
            freshness: .stale(since: answer.receivedAt, because: .expired),
            isChanging: false,
            isStored: false
        )
    }

    /// The result of a load; begins one more load where the model was invalidated in the meantime.
    private nonisolated(nonsending) func shown<Model: CachedModel>(
        _ record: ModelRecord<Model>,
        _ id: Model.ID,
        after answer: Answer,
        in bookkeeping: Bookkeeping
    ) async throws(ModelCacheError) -> ModelSnapshot<Model> {
        let key = id.cacheKey
        // Before that load begins, so that its answer is no result of this one.
        let snapshot = try await snapshot(Model.self, id)
        if wasInvalidated(record, key, after: answer, in: bookkeeping) { try await refresh(Model.self, id) }
        if let snapshot { return snapshot }
        if try await isRemovedByChanges(Model.self, key) { throw Self.removed(Model.self, key) }
        return ModelSnapshot(
            value: record.model,
            fetchedAt: record.state.fetchedAt,
            freshness: freshness(of: record, key, bookkeeping),
            isChanging: false
        )
    }

    /// Whether a model is stale that was invalidated while an answer that brought or confirmed it was on its way.
    func wasInvalidated<Model: CachedModel>(
        _ record: ModelRecord<Model>,
        _ key: String,
        after answer: Answer,
        in bookkeeping: Bookkeeping
    ) -> Bool {
        let scopes = Self.scopes(of: record.model, key)
        return bookkeeping.latestInvalidation(of: scopes) > answer.revision
            && !freshness(of: record, key, bookkeeping).isFresh
    }

    /// Renews a model that the server has called unchanged.
    ///
    /// - Returns: `nil` if the model that was asked about is not there any longer.
    private nonisolated(nonsending) func renew<Model: CachedModel>(
        _ table: ModelTable<Model>,
        _ key: String,
        sent validators: Validators?,
        by answer: Answer,
        in bookkeeping: Bookkeeping
    ) async throws(ModelCacheError) -> ModelRecord<Model>? {
        try await turns.run { () async -> Result<ModelRecord<Model>?, ModelCacheError> in
            await Result.of { () async throws(ModelCacheError) in
                guard let former = try await self.record(table.records, key),
                    former.state.isConfirmed(by: answer, validators)
                else { return nil }
                // Nothing of such an answer may be kept.
                guard answer.lifetime.isStored else { return former }
                var state = former.state
                let scopes = Self.scopes(of: former.model, key)
                state.renew(by: answer, bookkeeping, fresh: Model.policy.fresh, in: scopes)
                let record = ModelRecord(model: former.model, state: state)
                let groups = try self.apply([{ table.merged(key, to: record) }])
                self.write(groups)
                self.bus.tell(groups.flatMap(\.names))
                return record
            }
        }.get()
    }

    // MARK: Sending

    /// Sends a request, and says when it began.
    ///
    /// - Throws: `.noTransport`, `.transport`, `.closed`; `CancellationError`.
    nonisolated(nonsending) func send(
        _ request: ModelRequest,
        for subject: ModelCacheError.Subject,
        _ bookkeeping: Bookkeeping
    ) async throws -> Answer {
        guard let transport else {
            throw ModelCacheError(
                .noTransport,
                "the cache was opened without a transport, and cannot load \(subject)",
                of: subject
            )
        }
        let revision = try await nextRevision(bookkeeping)
        let requestedAt = clock.now
        let response: ModelResponse
        var cause: (any Error)?
        do {
            response = try await transport.send(request)
        } catch let thrown as ModelResponseError {
            (response, cause) = (thrown.response, thrown.cause)
        } catch {
            if error is CancellationError || Task.isCancelled { throw CancellationError() }
            throw ModelCacheError(
                .transport,
                "the request for \(subject) could not be sent, or was not answered",
                of: subject,
                cause: error
            )
        }
        try checkUsable()
        let receivedAt = clock.now
        let lifetime = ResponseLifetime(of: response, to: request, requestedAt: requestedAt, receivedAt: receivedAt)
        if response.status < 400 { postponed.remove(request) }
        return Answer(
            request: request,
            response: response,
            cause: cause,
            lifetime: lifetime,
            revision: revision,
            requestedAt: requestedAt,
            receivedAt: receivedAt
        )
    }
}
