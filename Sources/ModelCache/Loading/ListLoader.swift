/// Fetches and loads lists.
struct ListLoader: Sendable {
    let loader: Loader

    var tables: ModelTables { loader.tables }
    var snapshots: Snapshots { loader.snapshots }
    var merger: Merger { loader.merger }
    var fetcher: Fetcher { loader.fetcher }
    var server: Server { loader.server }

    /// A list as a fetch gives it.
    nonisolated(nonsending) func fetch<List: ModelList>(
        _ list: List,
        _ mode: FetchMode
    ) async throws -> ListSnapshot<List> {
        let target = FirstPageLoad(loader: self, list: list)
        let stored = try await target.stored()
        guard let stored, mode != .reload, stored.freshness.staleReason == .holes, !stored.isMostlyMissing,
            server.mode.withLock({ $0 }) == .online
        else { return try await fetcher.fetch(target, stored: stored, mode) }
        if mode == .staleWhileRevalidate {
            fetcher.loadInBackground("holes/" + target.name) { [self] in
                guard let present = try await snapshots.snapshot(list) else { return }
                _ = try await filled(list, present, missing: stored.holes)
            }
            return stored
        }
        guard let limit = mode.limit else { return try await filled(list, stored, missing: stored.holes) }
        return try await fetcher.waiting(atMost: limit) { [self] in
            try await filled(list, stored, missing: stored.holes)
        } orElse: { () async throws(ModelCacheError) in
            try await snapshots.snapshot(list)
        }
    }

    /// Loads the page beyond an end of the list as it is known.
    ///
    /// - Returns: where the list goes on elsewhere after the last attempt, the list as it is.
    nonisolated(nonsending) func fetchMore<List: ModelList>(
        of list: List,
        at end: ListEnd = .back
    ) async throws -> ListSnapshot<List> {
        let page = NextPageLoad(loader: self, list: list, end: end)
        let outcome: NextPage<List.Element>?
        do {
            outcome = try await page.outcome { page in
                try server.checkOnline(for: page.subject, "the next page of \(page.subject)")
                try server.checkDue(page.request)
                return try await fetcher.loads.join(page.name) { try await page.run() }
            }
        } catch {
            throw LoadFailure.cause(of: error)
        }
        // Pages of several variants do not make a list.
        guard try await tables.record(list)?.state.isOtherVariant(than: list.request(after: nil)) == false,
            let snapshot = try await snapshots.snapshot(list)
        else { return try await fetch(list, .automatic) }
        if case .notKept(let page) = outcome { return snapshot.joined(by: page, at: end) }
        return snapshot
    }

    /// Loads a list again from its first page, as far as it is known, and puts the result in the place of the list in one step.
    nonisolated(nonsending) func reloadAllPages<List: ModelList>(of list: List) async throws -> ListSnapshot<List> {
        let pages = AllPagesLoad(loader: self, list: list)
        let outcome: ListSnapshot<List>?
        do {
            outcome = try await pages.outcome { pages in
                try await fetcher.loads.join(pages.name) { try await pages.run() }
            }
        } catch {
            throw LoadFailure.cause(of: error)
        }
        if let outcome { return outcome }
        return try await fetch(list, .reload)
    }

    // MARK: Missing elements

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
        let gone = try await loader.loadEach(List.Element.self, missing)
        if !gone.isEmpty { try await remove(gone, of: list) }
        return try await snapshots.snapshot(list) ?? stored
    }

    /// Takes elements out of a list that the server does not have. An element stays that is stored again, or that the program
    /// removes by a change which is not confirmed.
    private nonisolated(nonsending) func remove<List: ModelList>(
        _ gone: [List.Element.ID],
        of list: List
    ) async throws(ModelCacheError) {
        let keys = gone.map(\.cacheKey)
        let table = try await tables.table(List.Element.self)
        // In the turn: an answer whose merge is before it may bring an element.
        try await merger.merge { () async throws(ModelCacheError) in
            let stored = try await tables.records(table.records, keys)
            let changes = table.layers.changes(over: keys)
            let missing = keys.indices.filter { stored[$0] == nil && changes[keys[$0]] == nil }.map { keys[$0] }
            let prepared = try await merger.prepare(list) { record in
                guard record?.modelName == List.Element.modelName else { return false }
                for key in missing { record?.remove(key) }
                return true
            }
            return [prepared.merge]
        }
    }

    // MARK: Pages

    /// Decodes a page.
    ///
    /// - Throws: `.decodingFailed`.
    func page<List: ModelList>(
        _ list: List,
        _ answer: Answer,
        after cursor: PageCursor?
    ) throws(ModelCacheError) -> DecodedPage<List> {
        let subject = ModelCacheError.Subject.list(list)
        return try server.decode(answer, after: cursor, of: subject, or: "the answer is no page of \(subject)") {
            body in
            let page = try list.page(in: body)
            let details = try ListDetails(list.details(in: body))
            return DecodedPage(page: page, keys: page.elements.cacheKeys, nested: body.nested, details: details)
        }
    }

    /// The request for a page beyond an end of a list; with `nil` for the first page.
    func request<List: ModelList>(for list: List, _ cursor: PageCursor?, beyond end: ListEnd) -> ModelRequest {
        guard let cursor, end == .front else { return list.request(after: cursor) }
        return list.request(before: cursor)
    }

    /// The result of a load; begins one more load where the list was invalidated in the meantime.
    ///
    /// - Parameter page: the answer's; `nil` if it has called the list unchanged.
    nonisolated(nonsending) func shown<List: ModelList>(
        _ list: List,
        _ page: DecodedPage<List>?,
        after answer: Answer
    ) async throws(ModelCacheError) -> ListSnapshot<List> {
        let none = DecodedPage<List>(page: ModelPage([]), keys: [])
        guard let snapshot = try await snapshots.snapshot(list) else {
            return ListSnapshot(unkept: page ?? none, of: answer)
        }
        if let page {
            let state = try await tables.record(list)?.state
            if tables.bookkeeping.isOtherVariant(state, of: list.request(after: nil), after: answer) {
                return ListSnapshot(unkept: page, of: answer)
            }
        }
        if snapshot.freshness.staleReason == .invalidated {
            fetcher.refresh(FirstPageLoad(loader: self, list: list))
        }
        return snapshot
    }

    /// Tells that a list ends here although the server has more of it.
    func reportUnkept<List: ModelList>(_ page: DecodedPage<List>, of list: List) {
        if page.page.next == nil, page.page.previous == nil { return }
        let subject = ModelCacheError.Subject.list(list)
        let fault = "the server forbids to keep a page of \(subject) (no-store), so no page beyond it can be loaded"
        tables.report(ModelCacheError(.notKept, fault, of: subject))
    }
}

/// An answer with a page of a list.
struct DecodedPage<List: ModelList>: Sendable {
    let page: ModelPage<List.Element>
    /// The keys of its elements.
    let keys: [String]
    var nested = NestedModels()
    var details: ListDetails?

    /// The page's elements, and the models nested in them.
    var arrivals: Arrivals {
        var arrivals = Arrivals()
        arrivals.add(nested)
        arrivals.add(page.elements, keys: keys, from: .list)
        return arrivals
    }
}
