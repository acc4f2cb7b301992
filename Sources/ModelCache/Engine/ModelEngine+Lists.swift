import Foundation

/// An answer with a page of a list.
struct DecodedPage<List: ModelList>: Sendable {
    let page: Page<List.Element>
    var nested = NestedModels()
    var details: ListDetails?

    /// The models of the page, and those inside them.
    func arrivals(keys: [String]) -> Arrivals {
        var arrivals = Arrivals()
        arrivals.add(nested)
        arrivals.add(page.elements, keys: keys, from: .list)
        return arrivals
    }
}

// Loading lists.

extension ModelEngine {
    /// A list as a fetch gives it.
    nonisolated(nonsending) func fetch<List: ModelList>(
        _ list: List,
        mode: FetchMode
    ) async throws -> ListSnapshot<List> {
        let isOffline = self.mode.withLock { $0 } == .offline
        if mode == .reload, !isOffline {
            do { return try await load(list) } catch { throw LoadFailure.cause(of: error) }
        }
        let stored = try await snapshot(list)
        if isOffline {
            guard let stored else {
                let subject = ModelCacheError.Subject.list(list)
                throw ModelCacheError(.offline, "\(subject) is not stored, and the cache is offline", of: subject)
            }
            return stored
        }
        if let stored {
            if stored.freshness.isFresh { return stored }
            if case .stale(_, .holes) = stored.freshness, !stored.isMostlyMissing {
                if mode == .staleWhileRevalidate {
                    try await refresh(stored.holes, of: list)
                    return stored
                }
                guard let limit = mode.limit else {
                    return try await filled(list, stored, missing: stored.holes)
                }
                return try await waiting(atMost: limit) { [self] in
                    try await filled(list, stored, missing: stored.holes)
                } orElse: { () async throws(ModelCacheError) in
                    try await snapshot(list)
                }
            }
            if try await servesWhileLoading(list, stored.freshness, mode: mode) {
                try await refresh(list)
                return stored
            }
        }
        do {
            try checkDue(list.request(after: nil))
            guard let limit = mode.limit, stored != nil else { return try await load(list) }
            return try await waiting(atMost: limit) { [self] in
                try await load(list)
            } orElse: { () async throws(ModelCacheError) in
                try await servedOnError(list)
            }
        } catch {
            let cause = LoadFailure.cause(of: error)
            guard Self.allowsStale(cause), let stored = try await servedOnError(list) else { throw cause }
            reportUnthrown(error)
            return stored
        }
    }

    private nonisolated(nonsending) func servesWhileLoading(
        _ list: some ModelList,
        _ freshness: Freshness,
        mode: FetchMode
    ) async throws(ModelCacheError) -> Bool {
        if mode == .staleWhileRevalidate { return true }
        guard freshness.isExpired else { return false }
        guard let state = try await record(lists().records, list.listKey)?.record.state else { return false }
        return state.isWithin(state.staleWhileRevalidate, at: clock.now)
    }

    private nonisolated(nonsending) func servedOnError<List: ModelList>(
        _ list: List
    ) async throws(ModelCacheError) -> ListSnapshot<List>? {
        if let state = try await record(lists().records, list.listKey)?.record.state,
            !state.isWithin(state.staleIfError, at: clock.now)
        {
            return nil
        }
        guard let shown = try await snapshot(list), !shown.freshness.isOtherVariant else { return nil }
        return shown
    }

    nonisolated(nonsending) func refresh(_ list: some ModelList) async throws(ModelCacheError) {
        let name = Self.loadName(list, in: try await bookkeeping())
        guard isDue(list.request(after: nil)) else { return }
        loadInBackground(name) { [self] in try await loadOnce(list) }
    }

    /// The name of a load. All else is as for models.
    static func loadName<List: ModelList>(_ list: List, in bookkeeping: Bookkeeping) -> String {
        let invalidation = bookkeeping.latestInvalidation(of: scopes(of: list))
        let variant = list.request(after: nil).variant
        return "l/\(invalidation.number)/\(variant)/\(List.Element.modelName)/\(list.listKey)"
    }

    /// - Throws: a ``LoadFailure``.
    nonisolated(nonsending) func load<List: ModelList>(_ list: List) async throws -> ListSnapshot<List> {
        let name = Self.loadName(list, in: try await bookkeeping())
        return try await loads.join(name) { [self] in try await loadOnce(list) }
    }

    /// Loads the first page, and then the missing elements that it did not bring.
    private nonisolated(nonsending) func loadOnce<List: ModelList>(_ list: List) async throws -> ListSnapshot<List>
    {
        let (loaded, page, revision) = try await loadFirstPage(of: list)
        if loaded.holes.isEmpty { return loaded }
        let removals = try await table(List.Element.self).removals
        let brought = Set(page?.elements.map(\.id) ?? [])
        // One that came, and is missing all the same, was not kept, unless the answer gave way to a change of it.
        let missing = loaded.holes.filter {
            !brought.contains($0) || removals.covers(revision, of: $0.cacheKey)
        }
        return try await filled(list, loaded, missing: missing)
    }

    /// - Returns: the list; its page, `nil` where the server called it unchanged; and the revision of the request.
    private nonisolated(nonsending) func loadFirstPage<List: ModelList>(
        of list: List,
        attempts: Int = attempts
    ) async throws -> (ListSnapshot<List>, Page<List.Element>?, Revision) {
        let table = try await lists()
        let bookkeeping = try await bookkeeping()
        let request = list.request(after: nil)
        let old = try await record(table.records, list.listKey)?.record
        let stored = try await snapshot(list)
        // The server could confirm the order only, and not bring missing elements.
        let lacksDetails = List.Details.self != NoDetails.self && stored?.details == nil
        let isWhole = stored?.holes.isEmpty ?? false && !lacksDetails
        let beginsAnew = stored?.isMostlyMissing ?? false
        let conditional = old.flatMap { old in
            !isWhole || old.state.isRefused || old.modelName != List.Element.modelName
                ? nil : old.state.conditional(request)
        }
        var answer = try await send(conditional ?? request, for: .list(list), bookkeeping)
        if answer.response.status == 304 {
            if conditional != nil, try await renew(list, sent: old?.state.validators, by: answer, in: bookkeeping) {
                let shown = try await shown(list, after: answer, to: request, in: bookkeeping, page: nil)
                return (shown, nil, answer.revision)
            }
            answer = try await send(request.unconditional, for: .list(list), bookkeeping)
        }
        let page = try page(list, answer, after: nil)
        guard answer.lifetime.isStored else {
            reportUnkept(page.page, of: list)
            return (unstored(page, of: answer), page.page, answer.revision)
        }
        let ids = page.page.elements.cacheKeys
        let next = page.page.next
        let state = EntryState(answer, bookkeeping, fresh: list.fresh)
        let empty = Self.emptyList(list, state)
        let key = list.listKey
        let scopes = Self.scopes(of: list)
        let clock = clock
        let change = ListChange(key: key, tags: list.tags) { record in
            let isNew = record == nil
            if isNew, table.removals.covers(state.revision, of: key) { return }
            var changed = record ?? empty
            if changed.modelName != empty.modelName { changed = empty }
            guard bookkeeping.comparable(changed.state) <= state.revision else { return }
            // No page of another variant stays after this one, nor any where most elements are missing.
            if beginsAnew || changed.state.isOtherVariant(than: request) { changed = empty }
            changed.replaceFirstPage(with: ids, next: next)
            changed.tags = empty.tags
            changed.state = state
            changed.details = page.details
            guard isNew else {
                record = changed
                return
            }
            guard let recent = table.recentChanges.changes(of: key, since: state.revision) else { return }
            record = changed
            for change in recent.changes { change(&record) }
            if let last = recent.last { record?.markChanged(at: last, in: scopes, bookkeeping, now: clock.now) }
        }
        try await merge(page.arrivals(keys: ids), lists: [change], answer.state)
        if attempts > 1, let state = try await record(table.records, key)?.record.state,
            hasChanged(state, since: answer, in: bookkeeping)
        {
            return try await loadFirstPage(of: list, attempts: attempts - 1)
        }
        let shown = try await shown(list, after: answer, to: request, in: bookkeeping, page: page)
        return (shown, page.page, answer.revision)
    }

    static func emptyList<List: ModelList>(_ list: List, _ state: EntryState) -> ListRecord {
        ListRecord(ids: [], next: nil, modelName: List.Element.modelName, tags: list.tags.sorted(), state: state)
    }

    /// The result of a load; begins one more load where the list was invalidated in the meantime.
    nonisolated(nonsending) func shown<List: ModelList>(
        _ list: List,
        after answer: Answer,
        to request: ModelRequest,
        in bookkeeping: Bookkeeping,
        page: DecodedPage<List>?
    ) async throws -> ListSnapshot<List> {
        guard let snapshot = try await snapshot(list) else {
            return unstored(page ?? DecodedPage(page: Page([])), of: answer)
        }
        if let page, let state = try await record(lists().records, list.listKey)?.record.state,
            isOtherVariant(state, of: request, after: answer, in: bookkeeping)
        {
            return unstored(page, of: answer)
        }
        if case .stale(_, .invalidated) = snapshot.freshness { try await refresh(list) }
        return snapshot
    }

    /// A list that is not kept.
    func unstored<List: ModelList>(_ page: DecodedPage<List>, of answer: Answer) -> ListSnapshot<List> {
        ListSnapshot(
            elements: page.page.elements,
            holes: [],
            hasMore: false,
            fetchedAt: answer.receivedAt,
            freshness: .stale(since: answer.receivedAt, because: .expired),
            isChanging: false,
            details: page.details?.value(List.Details.self),
            isStored: false
        )
    }

    /// Tells that a list ends here although the server has more of it.
    func reportUnkept<List: ModelList>(_ page: Page<List.Element>, of list: List) {
        if page.next == nil { return }
        let subject = ModelCacheError.Subject.list(list)
        report(
            ModelCacheError(
                .notKept,
                "the server forbids to keep a page of \(subject) (no-store), so no page behind it can be loaded",
                of: subject
            )
        )
    }

    /// Decodes a page.
    ///
    /// - Throws: `.status`, `.decodingFailed`.
    func page<List: ModelList>(
        _ list: List,
        _ answer: Answer,
        after cursor: PageCursor?
    ) throws(ModelCacheError) -> DecodedPage<List> {
        let subject = ModelCacheError.Subject.list(list)
        guard (200..<300).contains(answer.response.status) else { throw refusal(of: subject, by: answer) }
        let body = ModelBody(answer.response, after: cursor, decoder: makeDecoder)
        do {
            let page = try list.page(in: body)
            return DecodedPage(page: page, nested: body.nested, details: try ListDetails(list.details(in: body)))
        } catch {
            throw ModelCacheError(
                .decodingFailed,
                "the answer is no page of \(subject)",
                of: subject,
                cause: error
            )
        }
    }

    /// Renews a list that the server has called unchanged. Its elements keep their age.
    ///
    /// - Returns: whether the list that was asked about is still there.
    private nonisolated(nonsending) func renew(
        _ list: some ModelList,
        sent validators: Validators?,
        by answer: Answer,
        in bookkeeping: Bookkeeping
    ) async throws(ModelCacheError) -> Bool {
        let fresh = list.fresh
        let isThere = Flag()
        let change = ListChange(key: list.listKey, tags: list.tags) { record in
            guard var state = record?.state, state.isConfirmed(by: answer, validators) else { return }
            isThere.set()
            // Nothing of such an answer may be kept.
            guard answer.lifetime.isStored else { return }
            state.renew(by: answer, bookkeeping, fresh: fresh, in: Self.scopes(of: list))
            record?.state = state
            record?.reopenEnd()
        }
        try await merge(Arrivals(), lists: [change], answer.state)
        return isThere.isSet
    }
}
