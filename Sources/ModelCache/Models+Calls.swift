import Foundation

extension Models {
    // MARK: Fetching

    /// Returns a model: the stored one if it is fresh, else the server's.
    ///
    /// A model that is in memory and fresh is returned without suspending. Several tasks that want the same one wait for
    /// one request, which is cancelled when all of them are.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: its identity.
    ///   - mode: how a stale model is used.
    /// - Throws: ``ModelCacheError`` with code `.notFound` if the server has no such model, or a change that is not confirmed
    ///   removes it; where nothing may be shown instead `.transport`, `.status`, `.decodingFailed`, `.offline`,
    ///   `.noTransport`; `.storage` if the disk cannot be read; `.unknownModel`; `.closed`. `CancellationError` if the task
    ///   is cancelled.
    public nonisolated(nonsending) func fetch<Model: CachedModel>(
        _ type: Model.Type,
        id: Model.ID,
        _ mode: FetchMode = .automatic
    ) async throws -> Model {
        try await engine.loader.fetch(type, id, mode: mode).value
    }

    /// Returns a model with its age. All else is as for ``fetch(_:id:_:)``.
    public nonisolated(nonsending) func fetchSnapshot<Model: CachedModel>(
        _ type: Model.Type,
        id: Model.ID,
        _ mode: FetchMode = .automatic
    ) async throws -> ModelSnapshot<Model> {
        try await engine.loader.fetch(type, id, mode: mode)
    }

    /// Returns several models by identity: one pass over memory and disk, and one load of missing and stale models.
    ///
    /// Left out are models that the server does not have, which are removed here too, models that an unconfirmed change
    /// removes, and, offline, models that are not stored. A type that has a request for several models sends one for each
    /// ``CachedModel/batchLimit`` of them; the models of another type are asked for one by one. Six requests are under way at
    /// once.
    ///
    /// - Throws: as for one model: where one cannot be loaded, and no stale one may be shown in its place, none is
    ///   returned. The other loaded models are stored.
    public nonisolated(nonsending) func fetch<Model: CachedModel>(
        _ type: Model.Type,
        ids: some Sequence<Model.ID>,
        _ mode: FetchMode = .automatic
    ) async throws -> [Model.ID: Model] {
        try await engine.loader.fetch(type, Array(ids), mode: mode).mapValues(\.value)
    }

    /// Returns the model that a link refers to. All else is as for ``fetch(_:id:_:)``.
    public nonisolated(nonsending) func fetch<Model: CachedModel>(
        _ link: ModelLink<Model>,
        _ mode: FetchMode = .automatic
    ) async throws -> Model {
        try await engine.loader.fetch(Model.self, link.id, mode: mode).value
    }

    /// Returns the models that some links refer to, by identity. All else is as for ``fetch(_:ids:_:)``.
    public nonisolated(nonsending) func fetch<Model: CachedModel>(
        _ links: some Sequence<ModelLink<Model>>,
        _ mode: FetchMode = .automatic
    ) async throws -> [Model.ID: Model] {
        try await engine.loader.fetch(Model.self, links.map(\.id), mode: mode).mapValues(\.value)
    }

    // MARK: Reading stored models

    /// Returns a model as it is stored with its age, fresh or stale; `nil` if it is not. Loads nothing, as a cache's
    /// `stored(forKey:)`.
    ///
    /// - Throws: ``ModelCacheError`` with code `.storage`, `.unknownModel`, `.closed`.
    public nonisolated(nonsending) func stored<Model: CachedModel>(
        _ type: Model.Type,
        id: Model.ID
    ) async throws(ModelCacheError) -> ModelSnapshot<Model>? {
        try await engine.snapshots.snapshot(type, id.cacheKey)
    }

    /// Returns several models by identity, as far as they are stored. Never asks the server.
    ///
    /// - Throws: as for one model.
    public nonisolated(nonsending) func stored<Model: CachedModel>(
        _ type: Model.Type,
        ids: some Sequence<Model.ID>
    ) async throws(ModelCacheError) -> [Model.ID: ModelSnapshot<Model>] {
        try await engine.snapshots.snapshotsByID(type, ids)
    }

    // MARK: Changing

    /// Saves models that did not come by a fetch, from a socket say, and waits until they are on disk.
    ///
    /// Each is merged over the stored one; answers to requests that were sent before do not replace it.
    ///
    /// - Throws: ``ModelCacheError`` with code `.storage`, `.unknownModel`, `.closed`. Where the disk has failed, memory
    ///   has the models all the same.
    public nonisolated(nonsending) func save<Model: CachedModel>(
        _ models: some Sequence<Model>
    ) async throws(ModelCacheError) {
        try await engine.changes.save(Array(models))
    }

    /// Saves a model. All else is as for several.
    public nonisolated(nonsending) func save<Model: CachedModel>(_ model: Model) async throws(ModelCacheError) {
        try await engine.changes.save([model])
    }

    /// Removes a model, and waits until that is on disk. Lists that have it have a hole then.
    ///
    /// - Throws: as saving.
    public nonisolated(nonsending) func remove<Model: CachedModel>(
        _ type: Model.Type,
        id: Model.ID
    ) async throws(ModelCacheError) {
        try await change { $0.remove(type, id: id) }
    }

    /// Changes models and lists in one step: observers and reads of this process see all of it or nothing. A process that is
    /// killed while it is written to disk leaves a part of it there.
    ///
    /// - Throws: as saving.
    public nonisolated(nonsending) func change(
        _ edit: (inout ModelDraft) -> Void
    ) async throws(ModelCacheError) {
        var draft = ModelDraft(decoder: engine.changes.decoder)
        edit(&draft)
        try await engine.changes.commit(draft)
    }

    /// Shows a change at once, and keeps it when the server has accepted it.
    ///
    /// ```swift
    /// try await models.change { draft in
    ///     draft.update(Article.self, id: id) { $0.title = title }
    /// } sending: {
    ///     try await api.rename(id, title)
    /// }
    /// ```
    ///
    /// Until `send` returns, the change lies over the stored models: answers that come in the meantime show below it, and other
    /// changes beside it. It is in memory alone, and gone if the process ends.
    ///
    /// - Parameters:
    ///   - edit: the changes.
    ///   - send: tells the server.
    ///   - confirm: adds changes that the server's answer brings, in the same step: a model with the identity that the
    ///     server has given, say, in the place of the one that was shown, decoded by ``ModelDraft/save(_:decoding:at:)``.
    ///     Nothing by default.
    /// - Returns: the result of `send`.
    /// - Throws: errors of `send` and `confirm`, and then this change alone is taken back; ``ModelCacheError`` as saving. Where the disk
    ///   cannot be written after the server has been told, the change stays in memory, as one that is saved does. Where one of
    ///   its steps cannot be made, because the disk cannot be read or a model that `confirm` adds cannot be stored, that step
    ///   alone is taken back.
    @discardableResult
    public nonisolated(nonsending) func change<Outcome>(
        _ edit: (inout ModelDraft) -> Void,
        sending send: nonisolated(nonsending) () async throws -> Outcome,
        then confirm: (inout ModelDraft, Outcome) throws -> Void = { _, _ in }
    ) async throws -> Outcome {
        var draft = ModelDraft(decoder: engine.changes.decoder)
        edit(&draft)
        return try await engine.changes.change(draft, sending: send, then: confirm)
    }

    /// Makes models and lists stale, in all later launches as well, and the answers to loads that are under way.
    ///
    /// A load that is under way gives its value to the tasks that wait for it, and is done once more. A fetch that begins
    /// later does not wait for it.
    ///
    /// - Throws: ``ModelCacheError`` with code `.storage`, `.closed`. Where the disk has failed, they are stale in this
    ///   process.
    /// - Complexity: O(1) in the number of stored models.
    public nonisolated(nonsending) func invalidate(_ scopes: InvalidationScope...) async throws(ModelCacheError) {
        try await engine.changes.invalidate(scopes)
    }

    // MARK: Observing

    /// The snapshots of a model; `nil` where it is not stored. See ``Updates`` for their end.
    public func updates<Model: CachedModel>(of type: Model.Type, id: Model.ID) -> Updates<ModelSnapshot<Model>?> {
        engine.snapshots.updates(type, id)
    }

    /// The snapshots of several models, by identity. A model that is not stored is left out.
    public func updates<Model: CachedModel>(
        of type: Model.Type,
        ids: [Model.ID]
    ) -> Updates<[Model.ID: ModelSnapshot<Model>]> {
        engine.snapshots.updates(type, ids)
    }
}
