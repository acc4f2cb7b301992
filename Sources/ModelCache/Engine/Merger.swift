import TypedCache

/// Makes answers and changes part of the stored models and lists: one after another, each in one step, the models on disk
/// before the lists that name them.
struct Merger: Sendable {
    let tables: ModelTables

    /// Changes a list in place; `nil` stands for a list that is not there. An unchanged list is not written.
    ///
    /// Returns whether the answer counts: it gave way to no change of the list.
    typealias ListChange = (inout ListRecord?) -> Bool

    /// Merges models into the stored ones: observers see all of it at once. The disk is not waited for, and its failures
    /// are reported.
    nonisolated(nonsending) func merge(
        _ arrivals: Arrivals,
        _ state: ArrivalState
    ) async throws(ModelCacheError) {
        try await merge { () async throws(ModelCacheError) in try await arrivals.prepare(state, in: tables) }
    }

    /// Merges the models of some answers, and changes a list: on disk the models are first. All else is as for models alone.
    ///
    /// - Returns: the result of `change`.
    @discardableResult
    nonisolated(nonsending) func merge(
        _ parts: [(arrivals: Arrivals, state: ArrivalState)] = [],
        into list: some ModelList,
        _ change: ListChange
    ) async throws(ModelCacheError) -> Bool {
        var stands = false
        try await merge { () async throws(ModelCacheError) in
            var merges: [PreparedMerge] = []
            for part in parts { merges += try await part.arrivals.prepare(part.state, in: tables) }
            let prepared = try await prepare(list, change)
            stands = prepared.stands
            return merges + [prepared.merge]
        }
        return stands
    }

    /// Takes a turn, in which merges are prepared and applied. All else is as above.
    ///
    /// - Parameter prepare: must not take a turn.
    nonisolated(nonsending) func merge(
        _ prepare: nonisolated(nonsending) () async throws(ModelCacheError) -> [PreparedMerge]
    ) async throws(ModelCacheError) {
        await tables.account.writer.room()
        let merged = try await tables.turns.run { () async throws(ModelCacheError) in
            try apply(try await prepare(), isAwaited: false)
        }
        tables.bus.tell(merged.groups.flatMap(\.names))
    }

    /// Takes a turn for a change by the program, and suspends until that is on disk. All else is as above.
    ///
    /// - Parameter prepare: is given the revision of the change.
    /// - Throws: the disk's failures as well.
    nonisolated(nonsending) func mergeChange(
        _ prepare: nonisolated(nonsending) (Revision) async throws(ModelCacheError) -> [PreparedMerge]
    ) async throws(ModelCacheError) {
        await tables.account.writer.room()
        let merged = try await tables.runTurn { revision async throws(ModelCacheError) in
            try apply(try await prepare(revision), isAwaited: true)
        }
        tables.bus.tell(merged.groups.flatMap(\.names))
        try await merged.write.wait()
    }

    /// Applies merges in one step. Nothing suspends between the look whether the cache has ended and the change, so that
    /// an ended cache changes nothing any longer. Called in a turn, so that the disk has the order of the merges: a later one
    /// may begin before a task of this one goes on.
    ///
    /// - Parameter isAwaited: whether a caller waits for the write, which gives the first failure; otherwise failures are
    ///   reported.
    private func apply(
        _ merges: [PreparedMerge],
        isAwaited: Bool
    ) throws(ModelCacheError) -> (groups: [MergedGroup], write: PendingWrite) {
        if !merges.isEmpty { try tables.checkUsable() }
        let groups = merges.isEmpty ? [] : tables.steps.change { merges.map { $0() } }
        let write = tables.account.writer.begin(groups.reduce(0) { $0 + $1.count }) { [tables] in
            firstFailure(of: groups) { group -> ModelCacheError? in
                guard !tables.isErased else { return .ended }
                let failure = group.write().map { ModelCacheError($0) }
                if let failure, !isAwaited { tables.report(failure) }
                return failure
            }
        }
        return (groups, write)
    }

    /// Changes a list. Runs in a turn of merges.
    nonisolated(nonsending) func prepare(
        _ list: some ModelList,
        _ change: ListChange
    ) async throws(ModelCacheError) -> (merge: PreparedMerge, stands: Bool) {
        let lists = try await tables.lists()
        let old = try await tables.record(lists.records, list.listKey)
        var new = old?.record
        let stands = change(&new)
        var changes = RecordTable<ListEntry>.Changes()
        if new != old?.record {
            changes.append(list.listKey, new.map { ListEntry($0, over: old) }, tags: list.tags)
        }
        let changed = changes
        return ({ lists.merged(changed) }, stands)
    }

    /// Removes a model, unless an answer to a later request has brought it. Earlier ones do not bring it back.
    nonisolated(nonsending) func remove<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String,
        asOf revision: Revision
    ) async throws(ModelCacheError) {
        try await merge { () async throws(ModelCacheError) in
            let table = try await tables.table(type)
            let old = try await tables.record(table.records, key)
            if let old, tables.bookkeeping.comparable(old.state) > revision { return [] }
            table.removals.add(key, at: revision)
            return old == nil ? [] : [{ table.merged([key: nil]) }]
        }
    }

    /// Renews a model that the server has called unchanged.
    ///
    /// - Returns: `nil` if the model that was asked about is not there any longer.
    nonisolated(nonsending) func renew<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String,
        sent validators: Validators?,
        by answer: Answer
    ) async throws(ModelCacheError) -> ModelRecord<Model>? {
        var renewed: ModelRecord<Model>?
        try await merge { () async throws(ModelCacheError) in
            let table = try await tables.table(type)
            renewed = try await tables.record(table.records, key)
            guard let former = renewed, former.state.isConfirmed(by: answer, validators) else {
                renewed = nil
                return []
            }
            // Nothing of such an answer may be kept.
            guard answer.lifetime.isStored else { return [] }
            var state = former.state
            let scopes = InvalidationScope.all(of: former.model, key)
            state.renew(by: answer, tables.bookkeeping, fresh: Model.policy.freshness, in: scopes)
            let record = ModelRecord(model: former.model, state: state)
            renewed = record
            return [{ table.merged([key: record]) }]
        }
        return renewed
    }

    /// Renews a list that the server has called unchanged. Its elements keep their age.
    ///
    /// - Returns: whether the list that was asked about is still there.
    nonisolated(nonsending) func renew(
        _ list: some ModelList,
        sent validators: Validators?,
        by answer: Answer
    ) async throws(ModelCacheError) -> Bool {
        try await merge(into: list) { record in
            guard var state = record?.state, state.isConfirmed(by: answer, validators) else { return false }
            // Nothing of such an answer may be kept.
            guard answer.lifetime.isStored else { return true }
            state.renew(by: answer, tables.bookkeeping, fresh: list.freshness, in: InvalidationScope.all(of: list))
            record?.state = state
            record?.reopenEnd()
            return true
        }
    }
}
