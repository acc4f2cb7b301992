/// The load of a list's first page, and then of the missing elements that it did not bring.
struct FirstPageLoad<List: ModelList>: FetchTarget {
    let loader: ListLoader
    let list: List
    var former: EntryState?
    var isLast = false
    /// Whether most elements are missing.
    var beginsAgain = false

    private var bookkeeping: Bookkeeping { loader.tables.bookkeeping }

    var server: Server { loader.server }
    var subject: ModelCacheError.Subject { .list(list) }
    var request: ModelRequest { list.request(after: nil) }

    var name: String {
        let invalidation = bookkeeping.latestInvalidation(of: InvalidationScope.all(of: list))
        return "l/\(invalidation.number)/\(request.variant)/\(List.Element.modelName)/\(list.listKey)"
    }

    nonisolated(nonsending) func stored() async throws(ModelCacheError) -> ListSnapshot<List>? {
        try await loader.snapshots.snapshot(list)
    }

    nonisolated(nonsending) func storedState() async throws(ModelCacheError) -> EntryState? {
        try await loader.tables.record(list)?.state
    }

    nonisolated(nonsending) mutating func begin() async throws -> Bool {
        let old = try await loader.tables.record(list)
        let stored = try await stored()
        beginsAgain = stored?.isMostlyMissing ?? false
        // The server could confirm the order only, and not bring missing elements.
        let lacksDetails = List.Details.self != NoDetails.self && stored?.details == nil
        let isWhole = stored?.holes.isEmpty ?? false && !lacksDetails
        guard let old, isWhole, !old.state.isRefused, old.modelName == List.Element.modelName else { return true }
        former = old.state
        return true
    }

    nonisolated(nonsending) func renewed(by answer: Answer) async throws -> ListSnapshot<List>? {
        guard try await loader.merger.renew(list, sent: former?.validators, by: answer) else { return nil }
        let shown = try await loader.shown(list, nil, after: answer)
        return try await loader.filled(list, shown, missing: shown.holes)
    }

    nonisolated(nonsending) func content(of answer: Answer) async throws -> DecodedPage<List> {
        try loader.page(list, answer, after: nil)
    }

    func unkept(_ content: DecodedPage<List>, of answer: Answer) -> ListSnapshot<List> {
        loader.reportUnkept(content, of: list)
        return ListSnapshot(unkept: content, of: answer)
    }

    nonisolated(nonsending) func merged(
        _ content: DecodedPage<List>,
        of answer: Answer
    ) async throws -> ListSnapshot<List>? {
        let table = try await loader.tables.lists()
        let (key, scopes) = (list.listKey, InvalidationScope.all(of: list))
        let state = bookkeeping.state(of: answer.state, fresh: list.freshness)
        let empty = ListRecord(of: list, state)
        try await loader.merger.merge([(content.arrivals, answer.state)], into: list) { record in
            let isNew = record == nil
            table.losses.expire(since: answer.requestedAt, at: loader.tables.clock.now)
            if isNew, table.removals.covers(state.revision, of: key) || table.losses.covers(state.revision, of: key)
            {
                return false
            }
            var changed = record ?? empty
            if changed.modelName != empty.modelName { changed = empty }
            if bookkeeping.isLater(changed.state, than: answer) { return false }
            // No page of another variant stays after this one, nor any where most elements are missing or out of order.
            if beginsAgain || changed.isUnordered || changed.state.isOtherVariant(than: request) { changed = empty }
            changed.replaceFirstPage(with: content.keys, next: content.page.next, previous: content.page.previous)
            changed.tags = empty.tags
            changed.state = state
            changed.details = content.details
            guard isNew else {
                record = changed
                return true
            }
            guard let recent = table.recentChanges.changes(of: key, since: state.revision) else { return false }
            record = Layers.apply(recent.changes, to: changed)
            if let last = recent.last {
                record?.markChanged(at: last, in: scopes, bookkeeping, now: loader.tables.clock.now)
            }
            return true
        }
        let stored = try await storedState()
        let isLost = stored == nil && table.losses.covers(answer.revision, of: key)
        if !isLast, isLost || bookkeeping.hasChanged(stored, since: answer) { return nil }
        let shown = try await loader.shown(list, content, after: answer)
        if shown.holes.isEmpty { return shown }
        let removals = try await loader.tables.table(List.Element.self).removals
        let brought = Set(content.page.elements.map(\.id))
        // One that came, and is missing all the same, was not kept, unless the answer gave way to a change of it.
        let missing = shown.holes.filter {
            !brought.contains($0) || removals.covers(answer.revision, of: $0.cacheKey)
        }
        return try await loader.filled(list, shown, missing: missing)
    }
}

/// The outcome of loading a page beyond an end of the list.
enum NextPage<Element: CachedModel>: Sendable {
    case added
    /// The server forbids to keep it.
    case notKept(ModelPage<Element>)
}

/// The load of the page beyond an end of the list as it is known.
struct NextPageLoad<List: ModelList>: Attempt {
    typealias Outcome = NextPage<List.Element>

    let loader: ListLoader
    let list: List
    let end: ListEnd
    /// The page's cursor.
    var cursor: PageCursor?
    /// The stored list's own cursor, which it has as long as it ends where it did.
    var stored: PageCursor?
    /// An invalidation does not count then: the next fetch loads the list again in any case.
    var isLast = false

    private var bookkeeping: Bookkeeping { loader.tables.bookkeeping }

    var server: Server { loader.server }
    var subject: ModelCacheError.Subject { .list(list) }
    var request: ModelRequest { loader.request(for: list, cursor, beyond: end) }
    var name: String { (end == .back ? "more/" : "previous/") + FirstPageLoad(loader: loader, list: list).name }

    nonisolated(nonsending) mutating func begin() async throws -> Bool {
        guard let shown = try await loader.snapshots.shown(list)?.entry.record,
            let record = try await loader.tables.record(list),
            !record.state.isOtherVariant(than: list.request(after: nil))
        else { return false }
        stored = record.cursor(at: end)
        cursor = end == .back ? record.cursor(under: shown) : stored
        return cursor != nil
    }

    /// Whether the stored list still ends where the page begins, and was not invalidated since that was asked for.
    private func isCurrent(_ record: ListRecord?, _ answer: Answer, in table: ListTable) -> Bool {
        guard let record, let stored, record.cursor(at: end) == stored,
            !record.state.isOtherVariant(than: list.request(after: nil))
        else { return false }
        // The same offset counts other elements where the list began again.
        if stored.offset != nil {
            if bookkeeping.isLater(record.state, than: answer) { return false }
            // An unconfirmed change may show since, and the server may count without the elements that it removes.
            let changes = table.layers.changes(over: [list.listKey])[list.listKey] ?? []
            if let shown = Layers.apply(changes, to: record), record.cursor(under: shown) != cursor { return false }
        }
        return isLast || bookkeeping.latestInvalidation(of: InvalidationScope.all(of: list)) < answer.revision
    }

    nonisolated(nonsending) func isOutdated(_ answer: Answer) async throws -> Bool {
        let table = try await loader.tables.lists()
        return !isCurrent(try await loader.tables.record(list), answer, in: table)
    }

    /// Makes the list stale if the server does not take its cursor any longer.
    nonisolated(nonsending) func refuse(_ answer: Answer) async throws {
        guard [400, 404, 410, 422].contains(answer.response.status) else {
            throw server.refusal(of: subject, by: answer)
        }
        let table = try await loader.tables.lists()
        let isRefused = try await loader.merger.merge(into: list) { record in
            guard isCurrent(record, answer, in: table) else { return false }
            record?.setCursor(nil, at: end, from: nil)
            record?.state.isRefused = true
            return true
        }
        guard isRefused else { return }
        throw server.refusal(
            .cursorRefused,
            "the server does not take the cursor of the next page of \(subject) any more; fetch it from its start",
            of: subject,
            by: answer
        )
    }

    nonisolated(nonsending) func content(of answer: Answer) async throws -> DecodedPage<List> {
        try loader.page(list, answer, after: cursor)
    }

    func unkept(_ content: DecodedPage<List>, of answer: Answer) -> Outcome {
        loader.reportUnkept(content, of: list)
        return .notKept(content.page)
    }

    nonisolated(nonsending) func merged(_ content: DecodedPage<List>, of answer: Answer) async throws -> Outcome? {
        guard let cursor else { return nil }
        let table = try await loader.tables.lists()
        let isAdded = try await loader.merger.merge([(content.arrivals, answer.state)], into: list) { record in
            guard isCurrent(record, answer, in: table),
                let recent = table.recentChanges.changes(of: list.listKey, since: answer.revision)
            else { return false }
            record?.add(
                content.keys,
                at: end,
                from: cursor,
                further: end == .back ? content.page.next : content.page.previous,
                after: recent.changes
            )
            record?.details = content.details
            return true
        }
        return isAdded ? .added : nil
    }
}

/// The load of a list again from its first page, as far as it is known.
struct AllPagesLoad<List: ModelList>: Attempt {
    let loader: ListLoader
    let list: List
    /// How many elements the list had: pages are asked for until there are as many, or no more.
    var count = 0
    /// Whether pages in front are known.
    var hasFront = false
    var isLast = false

    /// Pages that follow each other, with the answers that brought them.
    struct Content: Sendable {
        var pages: [(page: DecodedPage<List>, answer: Answer)] = []
        var record: ListRecord
    }

    var server: Server { loader.server }
    var subject: ModelCacheError.Subject { .list(list) }
    var request: ModelRequest { list.request(after: nil) }
    var name: String { "all/" + FirstPageLoad(loader: loader, list: list).name }

    nonisolated(nonsending) mutating func begin() async throws -> Bool {
        guard server.mode.withLock({ $0 }) != .offline,
            let shown = try await loader.snapshots.shown(list)?.entry.record
        else { return false }
        (count, hasFront) = (shown.ids.count, shown.first != nil)
        return true
    }

    nonisolated(nonsending) func content(of answer: Answer) async throws -> Content {
        let state = loader.tables.bookkeeping.state(of: answer.state, fresh: list.freshness)
        var content = Content(record: ListRecord(of: list, state))
        var (answer, cursor, end): (Answer, PageCursor?, ListEnd) = (answer, nil, .back)
        while true {
            let page = try loader.page(list, answer, after: cursor)
            guard answer.lifetime.isStored || cursor == nil else {
                loader.reportUnkept(page, of: list)
                return content
            }
            content.pages.append((page, answer))
            let (next, previous) = (page.page.next, page.page.previous)
            if let cursor {
                let further = end == .back ? next : previous
                content.record.add(page.keys, at: end, from: cursor, further: further, after: [])
            } else {
                content.record.replaceFirstPage(with: page.keys, next: next, previous: previous)
            }
            content.record.details = page.details
            end = content.record.next == nil && hasFront ? .front : .back
            cursor = content.record.cursor(at: end)
            guard let cursor, content.record.ids.count < count, answer.lifetime.isStored else { return content }
            answer = try await server.send(loader.request(for: list, cursor, beyond: end), for: subject)
            guard (200..<300).contains(answer.response.status) else {
                throw server.refusal(of: subject, by: answer)
            }
        }
    }

    func unkept(_ content: Content, of answer: Answer) -> ListSnapshot<List> {
        loader.reportUnkept(content.pages[0].page, of: list)
        return ListSnapshot(unkept: content.pages[0].page, of: answer)
    }

    nonisolated(nonsending) func merged(_ content: Content, of answer: Answer) async throws -> ListSnapshot<List>? {
        let (tables, key) = (loader.tables, list.listKey)
        let table = try await tables.lists()
        let parts = content.pages.map { ($0.page.arrivals, $0.answer.state) }
        let stands = try await loader.merger.merge(parts, into: list) { record in
            guard let old = record, old.modelName == content.record.modelName,
                !tables.bookkeeping.isLater(old.state, than: answer),
                table.recentChanges.changes(of: key, since: answer.revision)?.changes.isEmpty == true
            else { return false }
            record = content.record
            return true
        }
        return stands ? try await loader.shown(list, nil, after: answer) : nil
    }
}
