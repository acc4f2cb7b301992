import Foundation
import ModelCache
import ModelCacheTesting
import Testing

/// A list of pages of two by a cursor.
private struct Pages: ModelList {
    typealias Element = Article
    var listKey: String { "pages" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/pages", query: ["after": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Article> { try body.page(items: "items", next: "next") }
}

/// Lists that are loaded again as far as they are known, and elements that leave all lists.
@Suite struct AllPagesTests {
    private let server = StubTransport()

    private func open() async throws -> Models {
        try await Models.inMemory(types: [User.self, Article.self], transport: server)
    }

    /// Scripts pages of two elements each.
    private func answer(_ ids: [Int], _ path: String = "/pages", stuckAt stuck: Int? = nil) {
        for start in stride(from: 0, to: ids.count, by: 2) {
            let items = ids[start..<min(start + 2, ids.count)]
                .map { "{\"id\": \($0), \"title\": \"t\", \"author\": 7}" }
            let next = stuck ?? (start + 2 < ids.count ? start + 2 : nil)
            let text =
                "{\"items\": [\(items.joined(separator: ", "))], \"next\": \(next.map(String.init) ?? "null")}"
            server.answer(start == 0 ? path : "\(path)?after=\(start)", .json(text))
        }
    }

    private func load(_ models: Models, pages: Int) async throws {
        _ = try await models.fetch(Pages())
        for _ in 1..<pages { _ = try await models.fetchMore(of: Pages()) }
        server.forgetRequests()
    }

    @Test func allKnownPagesAreLoadedAndNoMore() async throws {
        let models = try await open()
        answer([1, 2, 3, 4, 5, 6, 7, 8])
        try await load(models, pages: 3)
        answer([1, 2, 4, 6, 5, 7, 8])
        let all = try await models.reloadAllPages(of: Pages())
        #expect(all.elements.map(\.id) == [1, 2, 4, 6, 5, 7])
        #expect(all.hasMore)
        #expect(server.requests.count == 3)
        #expect(try await models.fetchMore(of: Pages()).elements.map(\.id) == [1, 2, 4, 6, 5, 7, 8])
    }

    /// Elements that the program has inserted may be after the first page, with no further page loaded.
    @Test func aListOfOnePageThatHasGrownIsLoadedAsFarAsItIsKnown() async throws {
        let models = try await open()
        answer([3, 4, 5, 6])
        try await load(models, pages: 1)
        for id in [2, 1] {
            let article = Article(id: id, title: "t", author: ModelLink(7))
            try await models.change { $0.insert(article, into: Pages(), at: .start) }
        }
        answer([1, 2, 4, 5, 6])
        #expect(try await models.reloadAllPages(of: Pages()).elements.map(\.id) == [1, 2, 4, 5])
    }

    @Test func aListThatHasBecomeShorterEnds() async throws {
        let models = try await open()
        answer([1, 2, 3, 4, 5, 6])
        try await load(models, pages: 3)
        answer([2, 5])
        let all = try await models.reloadAllPages(of: Pages())
        #expect(all.elements.map(\.id) == [2, 5])
        #expect(!all.hasMore)
    }

    @Test func viewsShowTheFormerListUntilAllPagesAreThere() async throws {
        let models = try await open()
        answer([1, 2, 3, 4])
        try await load(models, pages: 2)
        answer([4, 3, 2, 1])
        server.hold("/pages?after=2")
        async let all = models.reloadAllPages(of: Pages())
        await server.requested(2)
        #expect(try await models.stored(Pages())?.elements.map(\.id) == [1, 2, 3, 4])
        server.release("/pages?after=2")
        #expect(try await all.elements.map(\.id) == [4, 3, 2, 1])
    }

    @Test func aFailureLeavesTheList() async throws {
        let models = try await open()
        answer([1, 2, 3, 4])
        try await load(models, pages: 2)
        server.answer("/pages?after=2", .empty, status: 500)
        await expect(.status) { _ = try await models.reloadAllPages(of: Pages()) }
        #expect(try await models.stored(Pages())?.elements.map(\.id) == [1, 2, 3, 4])
    }

    @Test func aChangeInTheMeantimeStays() async throws {
        let models = try await open()
        answer([1, 2, 3, 4])
        try await load(models, pages: 2)
        server.hold("/pages?after=2")
        async let all = models.reloadAllPages(of: Pages())
        await server.requested(2)
        try await models.change { $0.remove(id: 1, from: Pages()) }
        answer([2, 3, 4])
        server.release("/pages?after=2")
        #expect(try await all.elements.map(\.id) == [2, 3, 4])
    }

    @MainActor
    @Test func aLiveListShowsAllPages() async throws {
        let models = try await open()
        answer([1, 2, 3, 4])
        try await load(models, pages: 2)
        let live = models.live(Pages())
        answer([4, 3, 2, 1])
        await live.reloadAllPages()
        #expect(live.elements.map(\.id) == [4, 3, 2, 1])
        #expect(live.error == nil)
    }

    @Test func aCursorThatDoesNotMoveEndsTheList() async throws {
        let models = try await open()
        answer([1, 2, 3, 4])
        _ = try await models.fetch(Pages())
        answer([1, 2, 3, 4], stuckAt: 2)
        // Its page has new elements once.
        #expect(try await models.fetchMore(of: Pages()).hasMore)
        #expect(try await models.fetchMore(of: Pages()).hasMore == false)
        #expect(try await models.stored(Pages())?.elements.map(\.id) == [1, 2, 3, 4])
    }

    // MARK: All lists

    @Test(arguments: [false, true]) func aDeletedModelLeavesEveryList(onDisk: Bool) async throws {
        let stage = try Stage()
        var models = try await stage.open()
        for topic in ["swift", "linux", "rust"] {
            stage.server.answerFeed(topic, topic == "rust" ? [3] : [1, 2, 3])
            _ = try await models.fetch(Feed(topic: topic))
        }
        if onDisk {
            try await models.close()
            models = try await stage.open()
        }
        stage.server.forgetRequests()
        try await models.change { $0.removeEverywhere(Article.self, id: 2) }
        for (topic, ids) in [("swift", [1, 3]), ("linux", [1, 3]), ("rust", [3])] {
            let list = try await models.fetch(Feed(topic: topic))
            #expect(list.elements.map(\.id) == ids)
            #expect(list.holes.isEmpty)
        }
        #expect(try await models.stored(Article.self, id: 2) == nil)
        #expect(stage.server.requests.isEmpty)
        try await models.close()
        models = try await stage.open()
        #expect(try await models.stored(Feed(topic: "linux"))?.elements.map(\.id) == [1, 3])
    }

    @Test(arguments: [false, true]) func aDeletionShowsUntilItFails(fails: Bool) async throws {
        struct Refused: Error {}
        let stage = try Stage()
        let models = try await stage.open()
        stage.server.answerFeed("swift", [1, 2])
        stage.server.answerFeed("linux", [2, 1])
        _ = try await models.fetch(Feed(topic: "swift"))
        do {
            try await models.change {
                $0.removeEverywhere(Article.self, id: 2)
            } sending: {
                #expect(try await models.stored(Feed(topic: "swift"))?.elements.map(\.id) == [1])
                // A list that comes in the meantime has it, too.
                _ = try await models.fetch(Feed(topic: "linux"))
                if fails { throw Refused() }
            }
        } catch is Refused {}
        for topic in ["swift", "linux"] {
            let stored = try #require(try await models.stored(Feed(topic: topic)))
            #expect(Set(stored.elements.map(\.id)) == (fails ? [1, 2] : [1]))
            #expect(stored.holes.isEmpty)
        }
    }
}
