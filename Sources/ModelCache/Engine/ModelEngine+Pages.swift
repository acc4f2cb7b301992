// Pages after the first one.

extension ModelEngine {
    /// Loads the page after the last element that is known.
    ///
    /// - Parameter attempts: how often a page is asked for at most, where the list is changed or invalidated in the meantime.
    /// - Returns: after the last attempt, the list as it is.
    nonisolated(nonsending) func fetchMore<List: ModelList>(
        of list: List,
        attempts: Int = attempts
    ) async throws -> ListSnapshot<List> {
        guard let shown = try await shown(list)?.entry.record,
            let record = try await record(lists().records, list.listKey)?.record
        else { return try await fetch(list, mode: .automatic) }
        // Pages of several variants are no list.
        if record.state.isOtherVariant(than: list.request(after: nil)) {
            return try await fetch(list, mode: .automatic)
        }
        guard attempts > 0, let end = record.next, let cursor = record.cursor(under: shown) else {
            guard let snapshot = try await snapshot(list) else { return try await fetch(list, mode: .automatic) }
            return snapshot
        }
        if mode.withLock({ $0 }) == .offline {
            let subject = ModelCacheError.Subject.list(list)
            throw ModelCacheError(
                .offline,
                "the next page of \(subject) is not stored, and the cache is offline",
                of: subject
            )
        }
        let name = "more/" + Self.loadName(list, in: try await bookkeeping())
        let isLast = attempts <= 1
        let outcome: NextPage<List.Element>
        do {
            try checkDue(list.request(after: cursor))
            outcome = try await loads.join(name) { [self] in
                try await loadMore(list, cursor, at: end, alsoInvalidated: isLast)
            }
        } catch {
            throw LoadFailure.cause(of: error)
        }
        // The list was changed below the request, or invalidated since.
        if case .elsewhere = outcome { return try await fetchMore(of: list, attempts: attempts - 1) }
        guard let snapshot = try await snapshot(list) else { return try await fetch(list, mode: .automatic) }
        if case .notKept(let page) = outcome { return snapshot.followed(by: page) }
        return snapshot
    }

    /// - Parameters:
    ///   - cursor: where the page begins.
    ///   - end: the stored list's own cursor, which it has as long as it ends where it did.
    ///   - alsoInvalidated: whether a page counts although the list was invalidated since it was asked for: the next fetch
    ///     loads the list again in any case.
    private nonisolated(nonsending) func loadMore<List: ModelList>(
        _ list: List,
        _ cursor: PageCursor,
        at end: PageCursor,
        alsoInvalidated: Bool
    ) async throws -> NextPage<List.Element> {
        let bookkeeping = try await bookkeeping()
        let answer = try await send(list.request(after: cursor), for: .list(list), bookkeeping)
        let first = list.request(after: nil)
        let (key, table) = (list.listKey, try await lists())
        // A page from before an invalidation is asked for again, but for the last attempt. So is one by an offset from before
        // the list began again: the same number counts other elements now. A list of another variant has no such page.
        let isCurrent = { @Sendable (record: ListRecord?) in
            guard let record, record.next == end, !record.state.isOtherVariant(than: first) else { return false }
            if end.offset != nil {
                if bookkeeping.comparable(record.state) > answer.revision { return false }
                // An unconfirmed change may show since, and the server may count without the elements that it removes.
                var shown: ListRecord? = record
                for change in table.layers.changes(over: [key])[key] ?? [] { change(&shown) }
                if let shown, record.cursor(under: shown) != cursor { return false }
            }
            return alsoInvalidated
                || bookkeeping.latestInvalidation(of: Self.scopes(of: list)) < answer.revision
        }
        guard isCurrent(try await record(table.records, key)?.record) else { return .elsewhere }
        if [400, 404, 410, 422].contains(answer.response.status) {
            try await refuse(list, answer, where: isCurrent)
            return .elsewhere
        }
        let page = try page(list, answer, after: cursor)
        guard answer.lifetime.isStored else {
            reportUnkept(page.page, of: list)
            return .notKept(page.page)
        }
        let ids = page.page.elements.cacheKeys
        let next = page.page.next
        let isAppended = Flag()
        let change = ListChange(key: key, tags: list.tags) { record in
            guard isCurrent(record), let recent = table.recentChanges.changes(of: key, since: answer.revision)
            else {
                return
            }
            record?.append(ids, from: cursor, next: next, after: recent.changes)
            record?.details = page.details
            isAppended.set()
        }
        try await merge(page.arrivals(keys: ids), lists: [change], answer.state)
        return isAppended.isSet ? .appended : .elsewhere
    }

    /// Makes a list stale whose cursor the server does not take any longer.
    ///
    /// - Parameter isCurrent: whether the list still ends where the server was asked.
    /// - Throws: `.cursorRefused`, if it does.
    private nonisolated(nonsending) func refuse(
        _ list: some ModelList,
        _ answer: Answer,
        where isCurrent: @escaping @Sendable (ListRecord?) -> Bool
    ) async throws(ModelCacheError) {
        let isRefused = Flag()
        let change = ListChange(key: list.listKey, tags: list.tags) { record in
            guard isCurrent(record) else { return }
            record?.next = nil
            record?.last = nil
            record?.state.isRefused = true
            isRefused.set()
        }
        try await merge(Arrivals(), lists: [change], answer.state)
        guard isRefused.isSet else { return }
        let subject = ModelCacheError.Subject.list(list)
        throw refusal(
            .cursorRefused,
            "the server does not take the cursor of the next page of \(subject) any more; fetch it from its start",
            of: subject,
            by: answer
        )
    }
}

/// The outcome of loading the page after the last element.
private enum NextPage<Element: CachedModel>: Sendable {
    case appended
    /// The list does not end any longer where the page begins, or was invalidated since the page was asked for.
    case elsewhere
    /// The server forbids to keep it.
    case notKept(Page<Element>)
}
