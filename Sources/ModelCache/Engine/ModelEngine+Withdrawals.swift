import TypedCache

// Models that are taken out of every list.

extension ModelEngine {
    /// The steps of a draft, and those that take its withdrawn models out of the lists that have them by now.
    nonisolated(nonsending) func allSteps(
        of draft: ModelDraft
    ) async throws(ModelCacheError) -> [any DraftStep] {
        guard !draft.withdrawn.isEmpty else { return draft.steps }
        let table = try await lists()
        let records = try await account.reading { () throws(ModelCacheError) in try table.records.readAll() }
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
}
