// Loading all pages of a list again.

extension ModelEngine {
    /// Loads a list again from its first page, as far as it is known, and puts the result in the place of the list in one step.
    ///
    /// - Parameter attempts: how often it is asked for at most, where the program changes the list in the meantime.
    nonisolated(nonsending) func reloadAllPages<List: ModelList>(
        of list: List,
        attempts: Int = attempts
    ) async throws -> ListSnapshot<List> {
        guard mode.withLock({ $0 }) != .offline, let shown = try await shown(list), shown.entry.record.last != nil
        else { return try await fetch(list, mode: .reload) }
        let count = shown.entry.record.ids.count
        let name = "all/" + Self.loadName(list, in: try await bookkeeping())
        let snapshot: ListSnapshot<List>?
        do {
            snapshot = try await loads.join(name) { [self] in try await loadPages(list, count: count) }
        } catch {
            throw LoadFailure.cause(of: error)
        }
        if let snapshot { return snapshot }
        if attempts > 1 { return try await reloadAllPages(of: list, attempts: attempts - 1) }
        return try await fetch(list, mode: .reload)
    }

    /// - Parameter count: how many elements the list had: pages are asked for until there are as many, or no more.
    /// - Returns: `nil` if the list was changed in the meantime.
    private nonisolated(nonsending) func loadPages<List: ModelList>(
        _ list: List,
        count: Int
    ) async throws -> ListSnapshot<List>? {
        let bookkeeping = try await bookkeeping()
        let table = try await lists()
        var pages: [(arrivals: Arrivals, state: ArrivalState)] = []
        var first: Answer?
        var all = Self.emptyList(list, EntryState(generation: 0, revision: .none, fetchedAt: Self.never))
        var cursor: PageCursor?
        repeat {
            let answer = try await send(list.request(after: cursor), for: .list(list), bookkeeping)
            let page = try page(list, answer, after: cursor)
            guard answer.lifetime.isStored else {
                reportUnkept(page.page, of: list)
                guard first == nil else { break }
                return unstored(page, of: answer)
            }
            let keys = page.page.elements.cacheKeys
            pages.append((page.arrivals(keys: keys), answer.state))
            if let cursor {
                all.append(keys, from: cursor, next: page.page.next, after: [])
            } else {
                first = answer
                all.replaceFirstPage(with: keys, next: page.page.next)
                all.state = EntryState(answer, bookkeeping, fresh: list.fresh)
            }
            all.details = page.details
            cursor = all.next
        } while cursor != nil && all.ids.count < count
        guard let first else { return nil }
        let loaded = all
        let key = list.listKey
        let isReplaced = Flag()
        let change = ListChange(key: key, tags: list.tags) { record in
            guard let old = record, old.modelName == loaded.modelName,
                bookkeeping.comparable(old.state) <= loaded.state.revision,
                table.recentChanges.changes(of: key, since: loaded.state.revision)?.changes.isEmpty == true
            else { return }
            record = loaded
            isReplaced.set()
        }
        await account.writer.room()
        let loadedPages = pages
        try await merge { () async throws(ModelCacheError) in
            var merges: [PreparedMerge] = []
            for page in loadedPages { merges += try await page.arrivals.prepare(page.state, in: self, bookkeeping) }
            return merges + [try await self.prepare([change])]
        }
        guard isReplaced.isSet else { return nil }
        return try await self.shown(list, after: first, to: list.request(after: nil), in: bookkeeping, page: nil)
    }
}
