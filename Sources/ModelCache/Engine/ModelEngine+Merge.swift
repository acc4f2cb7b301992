import Foundation
import TypedCache

/// A change of one list, as part of a merge.
struct ListChange: Sendable {
    let key: String
    let tags: Set<String>
    /// Is given the list, `nil` if it is not there, and leaves what it shall be; a list that is left as it is, is not
    /// written.
    let change: @Sendable (inout ListRecord?) -> Void
}

extension ModelEngine {
    /// Merges models and list changes into what is there: observers see all of it at once, the disk has the models first.
    ///
    /// - Parameter waits: whether to suspend until all of it is on disk, and to throw what fails there; otherwise that is
    ///   reported.
    nonisolated(nonsending) func merge(
        _ arrivals: Arrivals,
        lists changes: [ListChange] = [],
        _ state: ArrivalState,
        waits: Bool = false
    ) async throws(ModelCacheError) {
        let bookkeeping = try await bookkeeping()
        await account.writer.room()
        let merged = await turns.run { () async -> Result<[MergedGroup], ModelCacheError> in
            await Result.of { () async throws(ModelCacheError) in
                var groups: [MergedGroup] = []
                for group in arrivals.groups { groups.append(try await group.merge(state, in: self, bookkeeping)) }
                if !changes.isEmpty { groups.append(try await self.change(changes)) }
                // In the turn, so that the disk has the order of the merges.
                if !waits { self.write(groups) }
                return groups
            }
        }
        let groups = try merged.get()
        bus.tell(groups.flatMap(\.names))
        if waits { try await written(groups) }
    }

    private nonisolated(nonsending) func change(_ changes: [ListChange]) async throws(ModelCacheError)
        -> MergedGroup
    {
        let lists = try await lists()
        let keys = changes.map(\.key)
        let former = try await records(lists.records, keys)
        try checkUsable()
        var current = Dictionary(zip(keys, former.map { $0?.record })) { first, _ in first }
        var written: [WaitingChanges.Due] = []
        for change in changes {
            let old = current[change.key] ?? nil
            var new = old
            change.change(&new)
            guard new != old else { continue }
            current[change.key] = .some(new)
            written += lists.records.change(change.key, to: new.map(ListEntry.init), tags: change.tags)
        }
        let writes = written
        return MergedGroup(names: writes.map { ListTable.name($0.key) }, count: writes.count) {
            lists.records.write(writes)
        }
    }

    /// Removes a model, unless an answer to a later request has brought it.
    nonisolated(nonsending) func remove<Model: CachedModel>(
        _ type: Model.Type,
        _ key: String,
        _ revision: Revision,
        waits: Bool = false
    ) async throws(ModelCacheError) {
        let table = try await table(type)
        let bookkeeping = try await bookkeeping()
        let removed = await turns.run { () async -> Result<MergedGroup?, ModelCacheError> in
            await Result.of { () async throws(ModelCacheError) in
                guard let old = try await self.record(table.records, key) else { return nil }
                try self.checkUsable()
                guard bookkeeping.comparable(old.state) <= revision else { return nil }
                let removal = table.records.change(key, to: nil)
                let group = MergedGroup(names: [ModelTable<Model>.name(key)], count: 1) {
                    table.records.write(removal)
                }
                if !waits { self.write([group]) }
                return group
            }
        }
        guard let group = try removed.get() else { return }
        bus.tell(group.names)
        if waits { try await written([group]) }
    }

    // MARK: Writing

    /// Has groups written, one after another, and reports what fails.
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

    /// Writes groups, one after another, and throws the first failure.
    nonisolated(nonsending) func written(_ groups: [MergedGroup]) async throws(ModelCacheError) {
        let failure = await account.writer.run { [self] () -> ModelCacheError? in
            var failure: CacheError?
            for group in groups {
                guard !isErased else { return ModelCacheError.ended }
                failure = failure ?? group.write()
            }
            return failure.map { ModelCacheError($0) }
        }
        if let failure { throw failure }
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
