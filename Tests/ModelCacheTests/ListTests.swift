import Foundation
import ModelCache
import ModelCacheTesting
import TestSupport
import Testing
import TypedCache

/// A page of articles, as the server writes it.
private func page(_ ids: [Int], next: String? = nil) -> StubTransport.Body {
    let items = ids.map { "{\"id\": \($0), \"title\": \"t\($0)\", \"author\": 7}" }.joined(separator: ", ")
    let next = next.map { ", \"next\": \"\($0)\"" } ?? ""
    return .json("{\"items\": [\(items)]\(next)}")
}

@Suite struct ListTests {
    let feed = Feed(topic: "swift")

    private func ids(_ models: Models) async throws -> [Int]? {
        try await models.stored(feed)?.elements.map(\.id)
    }

    @Test func pagesFollowEachOtherAndNothingIsDoubledOrLostWhileTheFirstIsRefreshed() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([5, 4, 3], next: "3"))
        stage.server.answer("/articles?topic=swift&after=3", page([3, 2, 1], next: "1"))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        // The first page is refreshed while the second one is on its way.
        stage.server.forgetRequests()
        stage.server.hold("/articles?topic=swift&after=3")
        async let more = models.fetchMore(of: feed)
        await stage.server.requested(1)
        stage.server.answer("/articles?topic=swift", page([7, 6, 5], next: "5"))
        #expect(try await models.fetch(feed, .reload).elements.map(\.id) == [7, 6, 5, 4, 3])
        stage.server.release("/articles?topic=swift&after=3")
        let list = try await more
        #expect(list.elements.map(\.id) == [7, 6, 5, 4, 3, 2, 1])
        #expect(list.hasMore)
    }

    @Test func aFirstPageThatDoesNotReachTheOldOneTakesItsPlace() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2], next: "2"))
        stage.server.answer("/articles?topic=swift&after=2", page([1]))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        #expect(try await models.fetchMore(of: feed).hasMore == false)
        stage.server.answer("/articles?topic=swift", page([9, 8], next: "8"))
        #expect(try await models.fetch(feed, .reload).elements.map(\.id) == [9, 8])
        // An element that the server has no longer leaves the list.
        stage.server.answer("/articles?topic=swift", page([9]))
        let last = try await models.fetch(feed, .reload)
        #expect(last.elements.map(\.id) == [9])
        #expect(!last.hasMore)
    }

    @Test func theEndOfAListMovesWhileAPageIsOnItsWay() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2], next: "2"))
        stage.server.answer("/articles?topic=swift&after=2", page([1]))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        stage.server.forgetRequests()
        stage.server.hold("/articles?topic=swift&after=2")
        async let more = models.fetchMore(of: feed)
        await stage.server.requested(1)
        // A gap: the page that is on its way no longer belongs anywhere.
        stage.server.answer("/articles?topic=swift", page([9, 8], next: "8"))
        stage.server.answer("/articles?topic=swift&after=8", page([7]))
        _ = try await models.fetch(feed, .reload)
        stage.server.release("/articles?topic=swift&after=2")
        #expect(try await more.elements.map(\.id) == [9, 8, 7])
    }

    @Test(arguments: [400, 404, 410, 422])
    func aRefusedCursorIsSaidAndMakesTheListStale(status: Int) async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2], next: "2"), headers: ["ETag": "\"l\""])
        stage.server.answer("/articles?topic=swift&after=2", .empty, status: status)
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        await expect(.cursorRefused) { _ = try await models.fetchMore(of: feed) }
        let stored = try await models.stored(feed)
        #expect(stored?.elements.map(\.id) == [3, 2])
        #expect(stored?.freshness == .stale(since: nil, because: .cursorRefused))
        _ = try await models.fetch(feed)
        // As a whole: the server could only confirm the first page.
        #expect(stage.server.requests.last?.headers["if-none-match"] == nil)
        #expect(try await models.stored(feed)?.freshness.isFresh == true)
    }

    /// A server that calls the first page unchanged, or gives a new one, says nothing of the end.
    @Test func theLastPageOfAListThatWasReadToItsEndIsAskedForAgain() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([1, 2], next: "2"), headers: ["ETag": "\"l\""])
        stage.server.answer("/articles?topic=swift&after=2", page([3, 4], next: "4"))
        stage.server.answer("/articles?topic=swift&after=4", page([5]))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        for _ in 0..<2 { _ = try await models.fetchMore(of: feed) }
        #expect(try await models.stored(feed)?.hasMore == false)
        stage.server.answer("/articles?topic=swift&after=4", page([5, 6]))
        #expect(try await models.fetch(feed, .reload).hasMore)
        #expect(stage.server.responses.last?.status == 304)
        #expect(try await models.fetchMore(of: feed).elements.map(\.id) == [1, 2, 3, 4, 5, 6])
        stage.server.answer("/articles?topic=swift", page([0, 1, 2], next: "2"))
        stage.server.answer("/articles?topic=swift&after=4", page([5, 6, 7]))
        let reloaded = try await models.fetch(feed, .reload)
        #expect(reloaded.elements.map(\.id) == [0, 1, 2, 3, 4, 5, 6] && reloaded.hasMore)
        let whole = try await models.fetchMore(of: feed)
        #expect(whole.elements.map(\.id) == [0, 1, 2, 3, 4, 5, 6, 7] && !whole.hasMore)
    }

    @Test func elementsThatAreGoneAreHolesAndAFetchLoadsThem() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2, 1]))
        stage.server.answer("/articles/2", .json(#"{"id": 2, "title": "again", "author": 7}"#))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        try await models.remove(Article.self, id: 2)
        let stored = try await models.stored(feed)
        #expect(stored?.elements.map(\.id) == [3, 1])
        #expect(stored?.holes == [2])
        #expect(stored?.freshness == .stale(since: nil, because: .holes))
        #expect(try await models.fetch(feed).elements.map(\.title) == ["t3", "again", "t1"])
        // A hole that cannot be loaded stays one.
        try await models.remove(Article.self, id: 2)
        stage.server.answer("/articles/2", .empty, status: 500)
        #expect(try await models.fetch(feed).holes == [2])
    }

    @Test(arguments: [1, 2]) func aListWithHolesIsReturnedWhileTheyAreLoaded(count: Int) async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([4, 3, 2, 1]))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        for id in 1...count {
            try await models.remove(Article.self, id: id)
            stage.server.answer("/articles/\(id)", .json("{\"id\": \(id), \"title\": \"again\", \"author\": 7}"))
            stage.server.hold("/articles/\(id)")
        }
        let shown = try await models.fetch(feed, .staleWhileRevalidate)
        #expect(shown.holes.sorted() == Array(1...count))
        for id in 1...count { stage.server.release("/articles/\(id)") }
        await models.settle()
        #expect(try await models.stored(feed)?.holes == [])
        #expect(try await models.stored(feed)?.elements.last?.title == "again")
    }

    /// A list and its elements are the same from memory, from disk, and from both, also with holes, elements that wait
    /// to be written, unconfirmed changes, and memory that has room for none of it.
    @Test func aListIsTheSameFromMemoryAndFromDisk() async throws {
        let stage = try Stage()
        let ids = Array((1...40).reversed())
        stage.server.answer("/articles?topic=swift", page(ids))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        try await models.remove(Article.self, id: 11)
        let known = try #require(try await models.stored(feed))
        #expect(known.elements.map(\.id) == ids.filter { $0 != 11 } && known.holes == [11])
        for kept in [0, 7, 0] {
            models.trimMemory(toCount: kept)
            #expect(try await models.stored(feed) == known)
            #expect(try await models.stored(Article.self, ids: ids).count == 39)
        }
        models.trimMemory(toCount: 0)
        try await models.save(Article(id: 5, title: "new", author: ModelLink(7)))
        #expect(try await models.stored(feed)?.elements.first { $0.id == 5 }?.title == "new")
        models.trimMemory(toCount: 0)
        try await models.change {
            $0.update(Article.self, id: 6) { $0.title = "unconfirmed" }
        } sending: {
            let shown = try await models.stored(feed)
            #expect(shown?.elements.first { $0.id == 6 }?.title == "unconfirmed")
            #expect(shown?.elements.first { $0.id == 5 }?.title == "new")
        }
        try await models.close()

        let again = try await stage.open()
        let stored = try #require(try await again.stored(feed))
        #expect(stored.elements.map(\.id) == known.elements.map(\.id) && stored.holes == [11])
        #expect(stored.elements.filter { $0.title == "new" || $0.title == "unconfirmed" }.map(\.id) == [6, 5])
        await expect(.closed) { _ = try await models.stored(feed) }
    }

    @Test func elementsAreInsertedAndRemovedByHand() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([3, 2, 1], next: "1"))
        var models = try await stage.open()
        _ = try await models.fetch(feed)
        let new = Article(id: 9, title: "new", author: ModelLink(7))
        let other = Feed(topic: "absent")
        try await models.change { draft in
            draft.insert(new, into: feed, at: .before(2))
            draft.remove(id: 1, from: feed)
            draft.insert(new, into: other, at: .start)
        }
        #expect(try await ids(models) == [3, 9, 2])
        try await models.change { $0.insert(id: 3, into: feed, at: .end) }
        #expect(try await ids(models) == [9, 2, 3])
        try await models.change { $0.insert(id: 3, into: feed, at: .after(9)) }
        #expect(try await ids(models) == [9, 3, 2])
        try await models.change { $0.insert(id: 1, into: feed, at: .index(99)) }
        #expect(try await ids(models) == [9, 3, 2, 1])
        #expect(try await models.stored(other) == nil)
        try await models.close()
        models = try await stage.open()
        #expect(try await ids(models) == [9, 3, 2, 1])
    }

    @Test func offsetsMoveWithInsertedElements() async throws {
        struct Numbered: ModelList {
            typealias Element = Article
            var listKey: String { "numbered" }
            func request(after cursor: PageCursor?) -> ModelRequest {
                .get("/numbered", query: ["offset": cursor?.text])
            }
            func page(in body: ModelBody) throws -> ModelPage<Article> {
                let elements: [Article] = try body.models(Article.self)
                return ModelPage(elements, next: .offset((body.cursor?.offset ?? 0) + elements.count))
            }
        }
        let stage = try Stage()
        stage.server.answer(
            "/numbered",
            .json(#"[{"id": 1, "title": "a", "author": 7}, {"id": 2, "title": "b", "author": 7}]"#)
        )
        stage.server.answer("/numbered?offset=3", .json(#"[{"id": 3, "title": "c", "author": 7}]"#))
        let models = try await stage.open()
        _ = try await models.fetch(Numbered())
        try await models.change { draft in
            draft.insert(Article(id: 9, title: "new", author: ModelLink(7)), into: Numbered(), at: .start)
        }
        #expect(try await models.fetchMore(of: Numbered()).elements.map(\.id) == [9, 1, 2, 3])
    }

    /// Three elements a page, by offset.
    private struct Three: ModelList {
        typealias Element = Article
        var listKey: String { "three" }
        func request(after cursor: PageCursor?) -> ModelRequest { .get("/three", query: ["offset": cursor?.text]) }
        func page(in body: ModelBody) throws -> ModelPage<Article> {
            let elements = try body.models(Article.self)
            let count = (body.cursor?.offset ?? 0) + elements.count
            return ModelPage(elements, next: elements.count < 3 ? nil : .offset(count))
        }
    }

    @Test func aListThatIsRemovedBeginsAnewAndNoEarlierAnswerBringsItBack() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([4, 3], next: "3"), headers: ["ETag": "\"l\""])
        stage.server.answer("/articles?topic=swift&after=3", page([2, 1]))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        _ = try await models.fetchMore(of: feed)
        try await models.change {
            $0.remove(feed)
        } sending: {
            let stored = try await models.stored(feed)
            #expect(stored == nil)
            // The server could only call it unchanged.
            let fetched = try await models.fetch(feed)
            #expect(fetched.elements.map(\.id) == [4, 3])
        }
        #expect(try await models.stored(feed) == nil)
        #expect(try await models.stored(Article.self, ids: 1...4).count == 4)
        try await models.close()
        let again = try await stage.open()
        #expect(try await again.stored(feed) == nil)

        stage.server.forgetRequests()
        stage.server.hold("/articles?topic=swift")
        async let early = again.fetch(feed)
        await stage.server.requested(1)
        try await again.change { $0.remove(feed) }
        stage.server.release("/articles?topic=swift")
        #expect(try await early.elements.map(\.id) == [4, 3])
        #expect(try await again.stored(feed) == nil)
        #expect(try await again.fetch(feed).hasMore)
        #expect(try await ids(again) == [4, 3])
    }

    /// The offset of the list's end is the same, and counts other elements.
    @Test(.timeLimit(.minutes(1 * slowness)), arguments: [200, 410])
    func aPageFromBeforeTheListBeganAnewLosesNoElement(status: Int) async throws {
        let stage = try Stage()
        let models = try await stage.open()
        func answer(_ ids: [Int]) {
            for offset in stride(from: 0, through: 12, by: 3) {
                let items = ids.dropFirst(offset).prefix(3).map {
                    "{\"id\": \($0), \"title\": \"t\", \"author\": 7}"
                }
                let body = StubTransport.Body.json("[\(items.joined(separator: ", "))]")
                stage.server.answer(offset == 0 ? "/three" : "/three?offset=\(offset)", body)
            }
        }
        answer(Array(1...9))
        _ = try await models.fetch(Three())
        if status != 200 { stage.server.answer("/three?offset=3", .empty, status: status) }
        stage.server.hold("/three?offset=3")
        async let more = models.fetchMore(of: Three())
        await stage.server.requested(2)
        let later = [11, 12, 13] + Array(1...9)
        answer(later)
        _ = try await models.fetch(Three(), .reload)
        stage.server.release("/three?offset=3")
        #expect(try await more.elements.map(\.id) == [11, 12, 13, 1, 2, 3])
        var shown = try #require(try await models.stored(Three()))
        for _ in 0..<10 where shown.hasMore { shown = try await models.fetchMore(of: Three()) }
        #expect(shown.elements.map(\.id) == later)
    }

    @Test func aListWhoseKeyAnotherTypeHasIsAbsent() async throws {
        struct Users: ModelList {
            typealias Element = User
            var listKey: String { "feed/swift" }
            func request(after cursor: PageCursor?) -> ModelRequest { .get("/users") }
        }
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", page([1]))
        stage.server.answer("/users", .json(#"[{"id": 5, "name": "e", "bio": "x"}]"#))
        let models = try await stage.open()
        _ = try await models.fetch(feed)
        #expect(try await models.stored(Users()) == nil)
        #expect(try await models.fetch(Users()).elements.map(\.id) == [5])
        #expect(try await models.stored(feed) == nil)
    }
}
