import Foundation
import Synchronization

// Changes by the program.

extension ModelEngine {
    /// Shows a draft at once, and makes it part of the stored models and lists when `send` has returned, together with
    /// the steps that `confirm` adds.
    ///
    /// - Throws: errors of `send` and `confirm`, and then the draft is taken away.
    nonisolated(nonsending) func change<Outcome>(
        _ draft: ModelDraft,
        sending send: nonisolated(nonsending) () async throws -> Outcome,
        then confirm: (inout ModelDraft, Outcome) throws -> Void
    ) async throws -> Outcome {
        let number = changeCount.add(1, ordering: .sequentiallyConsistent).newValue
        var shows: [@Sendable () -> EntryName] = []
        let shown = try await allSteps(of: draft)
        for step in shown { shows.append(try await step.show(number, in: self)) }
        let steps = self.steps
        let names = steps.change { shows.map { $0() } }
        do {
            bus.tell(Set(names))
            let revision = try await nextRevision(bookkeeping())
            let outcome = try await send()
            var confirmed = draft
            try confirm(&confirmed, outcome)
            try await commit(confirmed, confirmed: number, shown: shown, sentAt: revision)
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
                undos.append(try await step.undo(number, in: self))
            } catch {
                // A cache that has ended shows nothing.
                if error.code != .closed { report(error) }
            }
        }
        let names = steps.change { undos.map { $0() } }
        bus.tell(Set(names))
    }

    /// Makes a draft part of the stored models and lists, and waits until it is on disk.
    ///
    /// - Parameters:
    ///   - number: of a change that the server has taken: a step that fails, because the disk cannot be read or an
    ///     identity is no key, keeps no other one back. `nil`: then nothing is changed.
    ///   - shown: the steps that show the change so far.
    ///   - sent: the revision of the request whose answer the draft has decoded; `nil`: its models are the program's
    ///     own, as the steps.
    nonisolated(nonsending) func commit(
        _ draft: ModelDraft,
        confirmed number: UInt64? = nil,
        shown: [any DraftStep] = [],
        sentAt sent: Revision? = nil
    ) async throws(ModelCacheError) {
        let bookkeeping = try await bookkeeping()
        // A list may have a withdrawn model by now that it did not have when the change was shown, and the other way round.
        var steps = draft.steps
        var failure: ModelCacheError?
        do throws(ModelCacheError) {
            steps = try await allSteps(of: draft)
        } catch {
            if number == nil { throw error }
            failure = error
        }
        if !draft.withdrawn.isEmpty {
            let names = Set(steps.map(\.name))
            steps += shown.filter { !names.contains($0.name) }
        }
        let allSteps = steps
        try await mergeChange { revision async throws(ModelCacheError) in
            var commits: [PreparedMerge] = []
            var arrivals = Arrivals()
            arrivals.add(draft.nested)
            do throws(ModelCacheError) {
                let state = ArrivalState(pushedAt: self.clock.now, asOf: sent ?? revision)
                commits += try await arrivals.prepare(state, in: self, bookkeeping)
            } catch {
                if number == nil { throw error }
                failure = failure ?? error
            }
            for step in allSteps {
                do throws(ModelCacheError) {
                    commits.append(try await step.commit(number ?? 0, revision, in: self))
                } catch {
                    if number == nil { throw error }
                    failure = failure ?? error
                }
            }
            return commits
        }
        if let failure { throw failure }
    }

    /// Saves models that the program has from elsewhere, and waits until they are on disk.
    nonisolated(nonsending) func save<Model: CachedModel>(_ models: [Model]) async throws(ModelCacheError) {
        let bookkeeping = try await bookkeeping()
        var arrivals = Arrivals()
        arrivals.add(models, from: .pushed)
        await account.writer.room()
        try await mergeChange { revision async throws(ModelCacheError) in
            try await arrivals.prepare(
                ArrivalState(pushedAt: self.clock.now, asOf: revision),
                in: self,
                bookkeeping
            )
        }
    }

    /// Makes models and lists stale, and waits until that is on disk.
    nonisolated(nonsending) func invalidate(_ scopes: [InvalidationScope]) async throws(ModelCacheError) {
        let bookkeeping = try await bookkeeping()
        // Before the disk is waited for: a change that comes in the meantime has a later revision, and sees the invalidation.
        _ = try await nextRevision(bookkeeping, invalidating: scopes)
        // Memory has the invalidation also where the disk refuses it.
        defer { bus.tellAll() }
        try await account.reading { () throws(ModelCacheError) in try bookkeeping.save() }
    }
}
