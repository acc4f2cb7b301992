import Foundation
import Synchronization
import TypedCache

/// Changes by the program.
final class Changes: Sendable {
    private let merger: Merger
    let decoder: @Sendable () -> JSONDecoder
    private let count = Atomic<UInt64>(0)

    init(merger: Merger, decoder: @escaping @Sendable () -> JSONDecoder) {
        self.merger = merger
        self.decoder = decoder
    }

    private var tables: ModelTables { merger.tables }

    /// Shows a draft at once, and makes it part of the stored models and lists when `send` has returned, together with
    /// the steps that `confirm` adds.
    ///
    /// - Throws: errors of `send` and `confirm`, and then the draft is taken away.
    nonisolated(nonsending) func change<Outcome>(
        _ draft: ModelDraft,
        sending send: nonisolated(nonsending) () async throws -> Outcome,
        then confirm: (inout ModelDraft, Outcome) throws -> Void
    ) async throws -> Outcome {
        let number = count.add(1, ordering: .sequentiallyConsistent).newValue
        var shows: [@Sendable () -> EntryName] = []
        let shown = try await allSteps(of: draft)
        for step in shown { shows.append(try await step.show(number, in: tables)) }
        let names = tables.steps.change { shows.map { $0() } }
        do {
            tables.bus.tell(Set(names))
            let start = try await tables.beginRequest()
            let outcome = try await send()
            var confirmed = draft
            try confirm(&confirmed, outcome)
            try await commit(confirmed, confirmed: number, shown: shown, sentAt: start)
            return outcome
        } catch {
            await undo(shown, number)
            throw error
        }
    }

    private nonisolated(nonsending) func undo(_ shown: [any DraftStep], _ number: UInt64) async {
        var undos: [@Sendable () -> EntryName] = []
        for step in shown {
            do throws(ModelCacheError) {
                undos.append(try await step.undo(number, in: tables))
            } catch {
                tables.report(error)
            }
        }
        let names = tables.steps.change { undos.map { $0() } }
        tables.bus.tell(Set(names))
    }

    /// Makes a draft part of the stored models and lists, and waits until it is on disk.
    ///
    /// - Parameters:
    ///   - number: of a change that the server has taken: a step that fails, because the disk cannot be read or an
    ///     identity is not a key, keeps no other one back. `nil`: then nothing is changed.
    ///   - shown: the steps that show the change so far.
    ///   - start: of the request whose answer the draft has decoded; `nil`: its models are the program's own, as the
    ///     steps.
    nonisolated(nonsending) func commit(
        _ draft: ModelDraft,
        confirmed number: UInt64? = nil,
        shown: [any DraftStep] = [],
        sentAt start: RequestStart? = nil
    ) async throws(ModelCacheError) {
        var failure: ModelCacheError?
        // A list may have a withdrawn model by now that it did not have when the change was shown, and the other way round.
        var steps = try await part(number, &failure, orElse: draft.steps) { () async throws(ModelCacheError) in
            try await allSteps(of: draft)
        }
        if !draft.withdrawn.isEmpty {
            let names = Set(steps.map(\.name))
            steps += shown.filter { !names.contains($0.name) }
        }
        try await merger.mergeChange { revision async throws(ModelCacheError) in
            var arrivals = Arrivals()
            arrivals.add(draft.nested)
            let now = tables.clock.now
            let state = ArrivalState(
                pushedAt: now,
                since: start ?? RequestStart(revision: revision, date: now)
            )
            var commits = try await part(number, &failure, orElse: []) { () async throws(ModelCacheError) in
                try await arrivals.prepare(state, in: tables)
            }
            for step in steps {
                commits += try await part(number, &failure, orElse: []) { () async throws(ModelCacheError) in
                    [try await step.commit(number ?? 0, revision, in: tables)]
                }
            }
            return commits
        }
        if let failure { throw failure }
    }

    /// Runs a part of a change, whose failure keeps no other part back if the server has taken the change.
    private nonisolated(nonsending) func part<Result>(
        _ number: UInt64?,
        _ failure: inout ModelCacheError?,
        orElse other: Result,
        _ body: nonisolated(nonsending) () async throws(ModelCacheError) -> Result
    ) async throws(ModelCacheError) -> Result {
        do throws(ModelCacheError) {
            return try await body()
        } catch {
            if number == nil { throw error }
            failure = failure ?? error
            return other
        }
    }

    /// A draft's own steps, and a step for each list that has one of its withdrawn models by now.
    private nonisolated(nonsending) func allSteps(
        of draft: ModelDraft
    ) async throws(ModelCacheError) -> [any DraftStep] {
        guard !draft.withdrawn.isEmpty else { return draft.steps }
        let table = try await tables.lists()
        let records = try await tables.account.reading { () throws(ModelCacheError) in try table.records.readAll() }
        var steps = draft.steps
        for (listKey, entry) in records {
            let ids = Set(entry.record.ids)
            for model in draft.withdrawn where entry.record.modelName == model.model && ids.contains(model.key) {
                let key = model.key
                steps.append(ListStep(key: listKey, tags: Set(entry.record.tags)) { $0?.remove(key) })
            }
        }
        return steps
    }

    /// Saves models that the program has from elsewhere, and waits until they are on disk.
    nonisolated(nonsending) func save<Model: CachedModel>(_ models: [Model]) async throws(ModelCacheError) {
        var arrivals = Arrivals()
        arrivals.add(models, from: .pushed)
        try await merger.mergeChange { revision async throws(ModelCacheError) in
            try await arrivals.prepare(ArrivalState(pushedAt: tables.clock.now, asOf: revision), in: tables)
        }
    }

    /// Decodes an answer that came by no fetch, and merges the models of its links.
    nonisolated(nonsending) func decode<Value: Decodable>(
        _ type: Value.Type,
        from data: Data,
        at path: [String],
        since start: RequestStart
    ) async throws -> Value {
        let body = ModelBody(data, decoder: decoder)
        let value = try body.decode(type, at: path)
        var arrivals = Arrivals()
        arrivals.add(body.nested)
        if !arrivals.groups.isEmpty {
            try await merger.merge(arrivals, ArrivalState(pushedAt: tables.clock.now, since: start))
        }
        return value
    }

    /// Makes models and lists stale, and waits until that is on disk.
    nonisolated(nonsending) func invalidate(_ scopes: [InvalidationScope]) async throws(ModelCacheError) {
        // Before the disk is waited for: a change that comes in the meantime has a later revision, and sees the invalidation.
        _ = try await tables.nextRevision(invalidating: scopes)
        // Memory has the invalidation also where the disk refuses it.
        defer { tables.bus.tellAll() }
        try await tables.account.reading { [tables] () throws(ModelCacheError) in try tables.bookkeeping.save() }
    }
}
