// Loading the elements of lists that are missing.

extension ModelEngine {
    /// Loads missing elements of a list. An element that cannot be loaded stays a hole; one that the server does not have
    /// leaves the list.
    ///
    /// - Throws: `.storage`, `.closed`; `CancellationError`.
    nonisolated(nonsending) func filled<List: ModelList>(
        _ list: List,
        _ stored: ListSnapshot<List>,
        missing: [List.Element.ID]
    ) async throws -> ListSnapshot<List> {
        if missing.isEmpty { return stored }
        let gone = try await loadEach(List.Element.self, missing)
        if !gone.isEmpty { try await remove(gone, of: list) }
        return try await snapshot(list) ?? stored
    }

    /// Loads missing elements in the background.
    nonisolated(nonsending) func refresh<List: ModelList>(
        _ missing: [List.Element.ID],
        of list: List
    ) async throws(ModelCacheError) {
        let name = "holes/" + Self.loadName(list, in: try await bookkeeping())
        loadInBackground(name) { [self] in
            guard let stored = try await snapshot(list) else { return }
            _ = try await filled(list, stored, missing: missing)
        }
    }

    /// Takes elements out of a list that the server does not have. An element stays that is stored again, or that the program
    /// removes by a change which is not confirmed.
    private nonisolated(nonsending) func remove<List: ModelList>(
        _ gone: [List.Element.ID],
        of list: List
    ) async throws(ModelCacheError) {
        let keys = gone.map(\.cacheKey)
        let table = try await table(List.Element.self)
        await account.writer.room()
        // In the turn: an answer whose merge is before it may bring an element.
        try await merge { () async throws(ModelCacheError) in
            let stored = try await self.records(table.records, keys)
            let changes = table.layers.changes(over: keys)
            let missing = keys.indices.filter { stored[$0] == nil && changes[keys[$0]] == nil }.map { keys[$0] }
            let change = ListChange(key: list.listKey, tags: list.tags) { record in
                guard record?.modelName == List.Element.modelName else { return }
                for key in missing { record?.remove(key) }
            }
            return [try await self.prepare([change])]
        }
    }
}
