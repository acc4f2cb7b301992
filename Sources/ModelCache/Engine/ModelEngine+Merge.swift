import Foundation
import TypedCache

/// A change of one list, as part of a merge.
struct ListChange: Sendable {
    let key: String
    let tags: Set<String>
    /// Changes the list in place; `nil` stands for a list that is not there. An unchanged list is not written.
    let change: @Sendable (inout ListRecord?) -> Void
}

extension ModelEngine {
    /// Merges models and list changes into the stored ones: observers see all of it at once, the disk has the models first.
    /// The disk is not waited for, and its failures are reported.
    nonisolated(nonsending) func merge(
        _ arrivals: Arrivals,
        lists changes: [ListChange] = [],
        _ state: ArrivalState
    ) async throws(ModelCacheError) {
        let bookkeeping = try await bookkeeping()
        await account.writer.room()
        try await merge { () async throws(ModelCacheError) in
            var merges = try await arrivals.prepare(state, in: self, bookkeeping)
            if !changes.isEmpty { merges.append(try await self.prepare(changes)) }
            return merges
        }
    }

    /// Takes a turn, in which merges are prepared and applied. All else is as above.
    ///
    /// - Parameter prepare: must not take a turn.
    nonisolated(nonsending) func merge(
        _ prepare: nonisolated(nonsending) () async throws(ModelCacheError) -> [PreparedMerge]
    ) async throws(ModelCacheError) {
        let groups = try await turns.run { () async -> Result<[MergedGroup], ModelCacheError> in
            await Result.of { () async throws(ModelCacheError) in
                let groups = try self.apply(try await prepare())
                self.write(groups)
                return groups
            }
        }.get()
        bus.tell(groups.flatMap(\.names))
    }

    /// Takes a turn for a change by the program, and suspends until that is on disk. All else is as above.
    ///
    /// - Parameter prepare: is given the revision of the change.
    /// - Throws: the disk's failures as well.
    nonisolated(nonsending) func mergeChange(
        _ prepare: nonisolated(nonsending) (Revision) async throws(ModelCacheError) -> [PreparedMerge]
    ) async throws(ModelCacheError) {
        let merged = try await runTurn {
            revision async -> Result<([MergedGroup], PendingWrite), ModelCacheError> in
            await Result.of { () async throws(ModelCacheError) in
                let groups = try self.apply(try await prepare(revision))
                return (groups, self.beginWrite(groups))
            }
        }
        let (groups, pending) = try merged.get()
        bus.tell(groups.flatMap(\.names))
        try await pending.wait()
    }

    /// Applies merges in one step. Nothing suspends between the look whether the cache has ended and the change, so that
    /// an ended cache changes nothing any longer.
    func apply(_ merges: [PreparedMerge]) throws(ModelCacheError) -> [MergedGroup] {
        try checkUsable()
        return steps.change { merges.map { $0() } }
    }

    /// Changes lists. Runs in a turn of merges.
    nonisolated(nonsending) func prepare(_ changes: [ListChange]) async throws(ModelCacheError) -> PreparedMerge {
        let lists = try await lists()
        let keys = changes.map(\.key)
        let former = try await records(lists.records, keys)
        var current: [String: ListEntry] = [:]
        for (index, key) in keys.enumerated() { current[key] = former[index] }
        var changed = RecordTable<ListEntry>.Changes()
        for change in changes {
            let old = current[change.key]
            var new = old?.record
            change.change(&new)
            guard new != old?.record else { continue }
            current[change.key] = new.map { ListEntry($0, over: old) }
            changed.append(change.key, current[change.key], tags: change.tags)
        }
        let entries = changed
        return {
            let due = lists.records.change(entries)
            return MergedGroup(model: nil, due: due) { lists.records.write(due) }
        }
    }

    /// Removes a model, unless an answer to a later request has brought it. Earlier ones do not bring it back.
    nonisolated(nonsending) func remove<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String,
        asOf revision: Revision
    ) async throws(ModelCacheError) {
        let table = try await table(type)
        let bookkeeping = try await bookkeeping()
        let groups = try await turns.run { () async -> Result<[MergedGroup], ModelCacheError> in
            await Result.of { () async throws(ModelCacheError) in
                let old = try await self.record(table.records, key)
                if let old, bookkeeping.comparable(old.state) > revision { return [] }
                table.removals.add(key, at: revision)
                if old == nil { return [] }
                let groups = try self.apply([{ table.merged(key, to: nil) }])
                self.write(groups)
                return groups
            }
        }.get()
        bus.tell(groups.flatMap(\.names))
    }

    // MARK: Writing

    /// Has groups written, one after another, and reports failures.
    func write(_ groups: [MergedGroup]) {
        let count = groups.reduce(0) { $0 + $1.count }
        guard count > 0 else { return }
        account.writer.add(count) { [self] in
            for group in groups {
                guard !isErased else { return }
                if let failure = group.write() { report(ModelCacheError(failure)) }
            }
        }
    }

    /// Has groups written, one after another, also after one that fails. Called in the turn of their merge, so that the
    /// disk has the order of the merges: a later merge may begin before a task of this one goes on.
    ///
    /// - Returns: the write, for a caller that waits: it gives the first failure.
    func beginWrite(_ groups: [MergedGroup]) -> PendingWrite {
        account.writer.begin(groups.reduce(0) { $0 + $1.count }) { [self] in
            firstFailure(of: groups) { group -> ModelCacheError? in
                isErased ? .ended : group.write().map { ModelCacheError($0) }
            }
        }
    }
}

extension Result {
    /// The value that an asynchronous call returns, or its error.
    nonisolated(nonsending) static func of(
        _ body: nonisolated(nonsending) () async throws(Failure) -> Success
    ) async -> Result {
        do throws(Failure) {
            return .success(try await body())
        } catch {
            return .failure(error)
        }
    }
}
