import Foundation
import ModelCache
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

/// A server that has one list of articles, and gives it in pages after an element or an offset.
///
/// After an element that the list has no longer there is no page: status 410. After 1,000 requests it fails, so that a
/// fetch that would go on for ever ends.
private final class PageServer: ModelTransport {
    static let pageSize = 3
    private let ids: Mutex<[Int]>
    private let count = Mutex(0)

    init(_ ids: some Sequence<Int>) { self.ids = Mutex(Array(ids)) }

    var list: [Int] { ids.withLock { $0 } }
    var requests: Int { count.withLock { $0 } }

    func change(_ change: (inout [Int]) -> Void) { ids.withLock { change(&$0) } }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let count = count.withLock { count in
            count += 1
            return count
        }
        if count > 1_000 { throw URLError(.networkConnectionLost) }
        let ids = list
        var rest = ids[...]
        if let parameter = request.query.first, let number = parameter.value.flatMap(Int.init) {
            if parameter.name == "offset" {
                rest = ids.dropFirst(number)
            } else {
                guard let place = ids.firstIndex(of: number) else { return ModelResponse(status: 410) }
                rest = ids[(place + 1)...]
            }
        }
        let page = rest.prefix(Self.pageSize)
        var body: [String: Any] = ["items": page.map { ["id": $0, "title": "t", "author": 7] as [String: Any] }]
        if rest.count > page.count { body["next"] = page.last }
        return ModelResponse(body: try JSONSerialization.data(withJSONObject: body))
    }
}

/// Puts an element into the list on each request for a page after the first one, 20 times.
private final class BusyServer: ModelTransport {
    private let pages: PageServer
    private let models = Mutex<Models?>(nil)
    private let pushes = Mutex(0)

    init(_ pages: PageServer) { self.pages = pages }

    func push(into cache: Models?) { models.withLock { $0 = cache } }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let response = try await pages.send(request)
        guard request.query.first?.value != nil, let models = models.withLock({ $0 }) else { return response }
        let count = pushes.withLock { pushes in
            pushes += 1
            return pushes
        }
        if count > 20 { return response }
        let article = Article(id: 100 + count, title: "t", author: ModelLink(7))
        pages.change { $0.insert(article.id, at: 0) }
        try await models.change { $0.insert(article, into: Offsets(), at: .start) }
        return response
    }
}

/// Removes an element while its first answer to a request for a page after the first one is on its way.
private final class RemovingServer: ModelTransport {
    private let pages: PageServer
    private let id: Int
    /// Whether that answer is from after the removal.
    private let isLate: Bool
    private let removal = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ pages: PageServer, id: Int, isLate: Bool = false) {
        self.pages = pages
        self.id = id
        self.isLate = isLate
    }

    func remove(_ body: @escaping @Sendable () async throws -> Void) { removal.withLock { $0 = body } }

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let response = try await pages.send(request)
        guard request.query.first?.value != nil, let removal = removal.withLock({ $0.take() }) else {
            return response
        }
        pages.change { ids in ids.removeAll { $0 == id } }
        try await removal()
        return isLate ? try await pages.send(request) : response
    }
}

/// Changes that a server has begun.
private final class Changes: Sendable {
    private let tasks = Mutex<[Task<Void, any Error>]>([])

    func add(_ body: @escaping @Sendable () async throws -> Void) {
        tasks.withLock { $0.append(Task { try await body() }) }
    }
    func end() async throws { for task in tasks.withLock({ $0 }) { try await task.value } }
}

/// The server's list, by cursors of the server's own.
private struct Cursors: ModelList {
    typealias Element = Article
    var listKey: String { "cursors" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/", query: ["after": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Article> {
        try body.page(items: "items", next: .optional("next"))
    }
}

/// The server's list, by offsets.
private struct Offsets: ModelList {
    typealias Element = Article
    var listKey: String { "offsets" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/", query: ["offset": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Article> {
        let page: ModelPage<Article> = try body.page(items: "items", next: .optional("next"))
        guard page.next != nil else { return page }
        return ModelPage(page.elements, next: .offset((body.cursor?.offset ?? 0) + page.elements.count))
    }
}

/// How pages become one list.
@Suite struct PagingTests {
    private func open(_ server: PageServer) async throws -> Models {
        try await Models.inMemory(types: [Article.self], transport: server)
    }

    private func article(_ id: Int) -> Article { Article(id: id, title: "t", author: ModelLink(7)) }

    /// Asks for pages until there are no more; once more from the start where the server does not take a cursor.
    private func readToTheEnd<List: ModelList>(_ list: List, _ models: Models) async throws -> [Int]
    where List.Element == Article {
        for _ in 0..<100 {
            do {
                let shown = try await models.fetchMore(of: list)
                if !shown.hasMore, shown.freshness.isFresh { return shown.elements.map(\.id) }
                if !shown.hasMore { _ = try await models.fetch(list) }
            } catch let error as ModelCacheError where error.code == .cursorRefused {
                _ = try await models.fetch(list)
            }
        }
        Issue.record("the list has no end")
        return []
    }

    // MARK: A new first page

    @Test func anElementThatComesToTheFrontTakesNoOtherWithIt() async throws {
        let server = PageServer(0..<12)
        let models = try await open(server)
        _ = try await models.fetch(Cursors())
        for _ in 0..<2 { _ = try await models.fetchMore(of: Cursors()) }
        server.change { $0 = [7, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11] }
        let shown = try await models.fetch(Cursors(), .reload)
        #expect(shown.elements.map(\.id) == [7, 0, 1, 2, 3, 4, 5, 6, 8])
        #expect(try await models.fetchMore(of: Cursors()).elements.map(\.id) == server.list)
    }

    /// Where elements are missing that stood before those of the page, it is not known where the others stand.
    @Test(arguments: [
        [5, 6, 7, 0, 1, 2, 3, 4, 8, 9, 10, 11], [0, 1, 7, 2, 3, 4, 5, 6, 8, 9, 10, 11],
        [0, 2, 3, 4, 5, 6, 7, 8, 1, 9, 10, 11], [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        [7, 8, 20, 21, 0, 1, 2, 3, 4, 5, 6, 9, 10, 11],
    ]) func aFirstPageThatLacksElementsBeforeItsOwnTakesThePlaceOfAll(order: [Int]) async throws {
        let server = PageServer(0..<12)
        let models = try await open(server)
        _ = try await models.fetch(Cursors())
        for _ in 0..<2 { _ = try await models.fetchMore(of: Cursors()) }
        server.change { $0 = order }
        #expect(try await models.fetch(Cursors(), .reload).elements.map(\.id) == Array(order.prefix(3)))
        #expect(try await readToTheEnd(Cursors(), models) == order)
    }

    /// The elements after an own one are news that the list has not seen yet, and there are more of them than the page
    /// has.
    @Test func aFirstPageThatEndsInNewsTakesThePlaceOfAll() async throws {
        let server = PageServer(0..<9)
        let models = try await open(server)
        _ = try await models.fetch(Cursors())
        _ = try await models.fetchMore(of: Cursors())
        server.change { $0 = [20, 14, 13, 12] + $0 }
        try await models.change { $0.insert(article(20), into: Cursors(), at: .start) }
        #expect(try await models.fetch(Cursors(), .reload).elements.map(\.id) == [20, 14, 13])
        #expect(try await readToTheEnd(Cursors(), models) == server.list)
    }

    @Test func aListWhoseCursorWasRefusedIsReadToItsEndFromTheStart() async throws {
        let server = PageServer([9, 8, 7, 6, 5, 4, 3, 2, 1])
        let models = try await open(server)
        _ = try await models.fetch(Cursors())
        _ = try await models.fetchMore(of: Cursors())
        server.change { $0.removeAll { $0 == 4 } }
        await expect(.cursorRefused) { _ = try await models.fetchMore(of: Cursors()) }
        let again = try await models.fetch(Cursors())
        #expect(again.elements.map(\.id) == [9, 8, 7])
        #expect(again.hasMore)
        #expect(try await readToTheEnd(Cursors(), models) == [9, 8, 7, 6, 5, 3, 2, 1])
    }

    @Test(arguments: [2, 3, 5]) func aListThatWasReadToItsEndGrowsThere(count: Int) async throws {
        let server = PageServer(0..<count)
        let models = try await open(server)
        _ = try await models.fetch(Cursors())
        #expect(try await models.fetchMore(of: Cursors()).hasMore == false)
        server.change { $0 += [count, count + 1] }
        #expect(try await models.fetch(Cursors(), .reload).hasMore)
        #expect(try await readToTheEnd(Cursors(), models) == Array(0..<count + 2))
    }

    // MARK: Offsets

    @Test func anOffsetMovesAlsoWherePagesHaveOverlapped() async throws {
        let server = PageServer(1...9)
        let models = try await open(server)
        _ = try await models.fetch(Offsets())
        server.change { $0.insert(0, at: 0) }
        #expect(try await models.fetchMore(of: Offsets()).elements.map(\.id) == [1, 2, 3, 4, 5])
        server.change { $0.removeAll { $0 == 2 } }
        try await models.change { $0.remove(id: 2, from: Offsets()) }
        #expect(try await models.fetchMore(of: Offsets()).elements.map(\.id) == [1, 3, 4, 5, 6, 7, 8])
    }

    @Test(arguments: [Int.min, -1, Int.max]) func noOffsetOfAServerOverflows(offset: Int) async throws {
        struct Strange: ModelList {
            typealias Element = Article
            var offset: Int
            var listKey: String { "strange" }
            func request(after cursor: PageCursor?) -> ModelRequest { .get("/") }
            func page(in body: ModelBody) throws -> ModelPage<Article> {
                ModelPage(try body.decode([Article].self, at: "items"), next: .offset(offset))
            }
        }
        let models = try await open(PageServer(1...3))
        let list = Strange(offset: offset)
        _ = try await models.fetch(list)
        try await models.change { $0.insert(article(9), into: list, at: .start) }
        for id in [9, 1, 2, 3] { try await models.change { $0.remove(id: id, from: list) } }
        #expect(try await models.fetch(list, .reload).elements.map(\.id) == [1, 2, 3])
    }

    @Test(arguments: [false, true]) func aPageIsAskedForOnceWhileAChangeIsNotConfirmed(isDone: Bool) async throws {
        let server = PageServer(1...9)
        let models = try await open(server)
        _ = try await models.fetch(Offsets())
        try await models.change {
            $0.insert(article(20), into: Offsets(), at: .start)
        } sending: {
            if isDone { server.change { $0.insert(20, at: 0) } }
            let more = try await models.fetchMore(of: Offsets())
            // An element that comes twice is left out.
            #expect(more.elements.map(\.id) == [20, 1, 2, 3, 4, 5] + (isDone ? [] : [6]))
            #expect(server.requests == 2)
            if !isDone { server.change { $0.insert(20, at: 0) } }
        }
        #expect(try await readToTheEnd(Offsets(), models) == server.list)
    }

    /// Elements that come faster than pages do not have the server asked without end.
    @Test func aPageIsAskedForThreeTimesAtMostBecauseOfChanges() async throws {
        let pages = PageServer(1...9)
        let server = BusyServer(pages)
        let models = try await Models.inMemory(types: [Article.self], transport: server)
        _ = try await models.fetch(Offsets())
        server.push(into: models)
        let more = try await models.fetchMore(of: Offsets())
        #expect(pages.requests == 4)
        #expect(more.elements.map(\.id) == [103, 102, 101, 1, 2, 3])
        #expect(more.hasMore && more.freshness.isFresh)
        server.push(into: nil)
        #expect(try await readToTheEnd(Offsets(), models) == pages.list)
    }

    /// The server may have removed the element already, and counts without it then.
    @Test(arguments: [false, true]) func noElementIsLostWhileARemovalIsNotConfirmed(isDone: Bool) async throws {
        let server = PageServer(1...9)
        let models = try await open(server)
        _ = try await models.fetch(Offsets())
        try await models.change {
            $0.remove(id: 2, from: Offsets())
        } sending: {
            if isDone { server.change { $0.removeAll { $0 == 2 } } }
            _ = try await models.fetchMore(of: Offsets())
            if !isDone { server.change { $0.removeAll { $0 == 2 } } }
        }
        #expect(try await readToTheEnd(Offsets(), models) == server.list)
    }

    /// The list does not have the element yet; its page, which is on its way, may have it, or be counted with it.
    @Test(arguments: [true, false]) func anElementOfTheNextPageThatIsRemovedMeanwhileStaysAway(isCounted: Bool)
        async throws
    {
        let server = PageServer(1...9)
        let removing = RemovingServer(server, id: 5)
        let models = try await Models.inMemory(types: [Article.self], transport: removing)
        func more() async throws -> [Int] {
            isCounted
                ? try await models.fetchMore(of: Offsets()).elements.map(\.id)
                : try await models.fetchMore(of: Cursors()).elements.map(\.id)
        }
        if isCounted { _ = try await models.fetch(Offsets()) } else { _ = try await models.fetch(Cursors()) }
        removing.remove { [models] in
            try await models.change {
                if isCounted { $0.remove(id: 5, from: Offsets()) } else { $0.remove(id: 5, from: Cursors()) }
            }
        }
        #expect(try await more() == (isCounted ? [1, 2, 3, 4, 6, 7] : [1, 2, 3, 4, 6]))
        while try await more().last != 9 {}
        #expect(try await more() == server.list)
    }

    /// A page leaves out the elements that changes remove, and has every other one, also an element that the program
    /// has moved.
    @Test func aPageThatWasAskedForBeforeChangesOfItsListTakesNothingBack() async throws {
        let server = PageServer(1...9)
        let removing = RemovingServer(server, id: 5)
        let models = try await Models.inMemory(types: [Article.self], transport: removing)
        _ = try await models.fetch(Cursors())
        removing.remove { [models] in
            try await models.change {
                $0.insert(id: 4, into: Cursors(), at: .start)
                $0.remove(id: 5, from: Cursors())
                $0.remove(id: 1, from: Cursors())
                $0.insert(id: 1, into: Cursors(), at: .end)
            }
        }
        #expect(try await models.fetchMore(of: Cursors()).elements.map(\.id) == [4, 2, 3, 1, 6])
    }

    /// The server counts without it already, and the change is not confirmed.
    @Test func noElementIsLostWhileOneBeforeItIsRemoved() async throws {
        let server = PageServer(1...9)
        let removing = RemovingServer(server, id: 2, isLate: true)
        let models = try await Models.inMemory(types: [Article.self], transport: removing)
        _ = try await models.fetch(Offsets())
        let (gate, changes) = (Gate(), Changes())
        removing.remove { [models] in
            changes.add {
                try await models.change {
                    $0.remove(id: 2, from: Offsets())
                } sending: {
                    await gate.pass()
                }
            }
            await gate.reached()
        }
        #expect(try await models.fetchMore(of: Offsets()).elements.map(\.id) == [1, 3, 4, 5, 6])
        gate.open()
        try await changes.end()
        #expect(try await readToTheEnd(Offsets(), models) == server.list)
    }

    // MARK: Laws

    /// The server's list changes where it is sorted by the last activity: all that it has is found.
    @Test(arguments: seeds(0..<300)) func nothingIsLostOrDoubledBySorting(seed: Int) async throws {
        var random = SeededGenerator(seed: seed)
        let server = PageServer(0..<Int.random(in: 0...20, using: &random))
        let models = try await open(server)
        var shown = try await models.fetch(Cursors()).elements.map(\.id)
        for step in 0..<25 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: server.change { $0.insert(100 + step, at: 0) }
            case 1:
                // The first ones stay after all that is new.
                guard
                    let id = server.list.filter({ !shown.prefix(PageServer.pageSize).contains($0) })
                        .randomElement(using: &random)
                else { continue }
                server.change { ids in
                    ids.removeAll { $0 == id }
                    ids.insert(id, at: 0)
                }
            case 2:
                guard let id = server.list.randomElement(using: &random) else { continue }
                server.change { $0.removeAll { $0 == id } }
            case 3: shown = try await models.fetch(Cursors(), .reload).elements.map(\.id)
            default:
                do {
                    shown = try await models.fetchMore(of: Cursors()).elements.map(\.id)
                } catch let error as ModelCacheError where error.code == .cursorRefused {}
            }
        }
        _ = try await models.fetch(Cursors(), .reload)
        let read = try await readToTheEnd(Cursors(), models)
        #expect(Set(read).isSuperset(of: server.list), "seed \(seed): \(read), \(server.list)")
        #expect(Set(read).count == read.count, "seed \(seed): \(read)")
    }

    /// The program changes a list that the server counts, while pages are loaded, and others add to it, or the first
    /// page is loaded again: all is found.
    @Test(arguments: seeds(0..<300)) func offsetsLoseNothing(seed: Int) async throws {
        var random = SeededGenerator(seed: seed)
        let first = 0..<Int.random(in: 3...30, using: &random)
        let server = PageServer(first)
        let models = try await open(server)
        _ = try await models.fetch(Offsets())
        var trial = Trial(server: server, models: models, areOthers: seed % 2 == 0, random: random)
        for _ in 0..<20 { try await trial.step() }
        let read = try await readToTheEnd(Offsets(), models)
        let own = server.list.filter { !trial.others.contains($0) }
        #expect(Set(read).isSuperset(of: own), "seed \(seed): \(read), \(server.list)")
        #expect(Set(read).count == read.count, "seed \(seed): \(read)")
        #expect(read.filter(first.contains) == own.filter(first.contains), "seed \(seed): \(read), \(server.list)")
    }
}

/// Random steps of a program and a server with a list by offsets.
private struct Trial {
    struct Refused: Error {}

    let server: PageServer
    let models: Models
    /// Whether others add elements at the front, which the list does not hear of; otherwise its first page is loaded
    /// again.
    let areOthers: Bool
    var random: SeededGenerator
    /// The elements of others.
    var others: Set<Int> = []
    var last = 1_000

    /// - Parameter depth: how many changes are under way.
    mutating func step(depth: Int = 0) async throws {
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where areOthers:
            last += 1
            others.insert(last)
            server.change { $0.insert(last, at: 0) }
        case 0: _ = try await models.fetch(Offsets(), .reload)
        case 1, 2: _ = try await models.fetchMore(of: Offsets())
        default: if depth < 3 { try await change(depth: depth) }
        }
    }

    /// Inserts or removes an element, with other steps before and after the moment when the server does the same, or
    /// refuses.
    private mutating func change(depth: Int) async throws {
        last += 1
        let new = last
        let shown = try await models.stored(Offsets())?.elements.map(\.id).filter { $0 < 1_000 } ?? []
        let removed = Bool.random(using: &random) ? shown.randomElement(using: &random) : nil
        let isRefused = Int.random(in: 0..<5, using: &random) == 0
        do {
            try await models.change { draft in
                if let removed {
                    draft.remove(id: removed, from: Offsets())
                } else {
                    draft.insert(Article(id: new, title: "t", author: ModelLink(7)), into: Offsets(), at: .start)
                }
            } sending: {
                try await step(depth: depth + 1)
                if isRefused { throw Refused() }
                server.change { ids in
                    if let removed { ids.removeAll { $0 == removed } } else { ids.insert(new, at: 0) }
                }
                try await step(depth: depth + 1)
            }
        } catch is Refused {}
    }
}
