import ModelCache

extension Scenario {
    static let lists: [Scenario] = [
        Scenario("Pages by cursor, with a total and facets") { visit in
            let shop = try await visit.open()
            var catalogue = try await shop.models.fetch(Catalogue())
            visit.answer("The first page", catalogue.elements.map(\.id), mustBe: [10, 9, 8, 7])
            visit.answer(
                "Of all",
                catalogue.details,
                mustBe: Catalogue.Details(total: 10, kinds: ["kite": 3, "toy": 7])
            )
            while catalogue.hasMore { catalogue = try await shop.models.fetchMore(of: Catalogue()) }
            visit.answer("To the end", catalogue.elements.map(\.id), mustBe: Array((1...10).reversed()))
        },

        Scenario("Pages by number, and pages that move") { visit in
            let shop = try await visit.open()
            var bestsellers = try await shop.models.fetch(Bestsellers())
            visit.answer("The first page", bestsellers.elements.map(\.id), mustBe: [1, 2])
            try await visit.server.delete(product: 1)
            // The third product moves to the first page with that.
            bestsellers = try await shop.models.fetchMore(of: Bestsellers())
            visit.answer(
                "After product 1 is deleted, with the next page",
                bestsellers.elements.map(\.id),
                mustBe: [1, 2, 4, 5]
            )
            bestsellers = try await shop.models.reloadAllPages(of: Bestsellers())
            visit.answer("All pages again", bestsellers.elements.map(\.id), mustBe: [2, 3, 4, 5])
            bestsellers = try await shop.models.fetchMore(of: Bestsellers())
            visit.answer("The last page", bestsellers.elements.map(\.id), mustBe: [2, 3, 4, 5, 6, 7])
            visit.answer("More", bestsellers.hasMore, mustBe: false)
        },

        Scenario("New and deleted elements between two pages") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Catalogue())
            for _ in 1...2 { try await visit.server.addProduct() }
            _ = try await shop.models.fetchMore(of: Catalogue())
            try await visit.wait()
            let first = try await shop.models.fetch(Catalogue())
            visit.answer(
                "Two new ones come in front, and nothing is lost or there twice",
                first.elements.map(\.id),
                mustBe: Array((3...12).reversed())
            )
            try await visit.server.delete(product: 4)
            try await visit.wait()
            visit.answer(
                "A product after the first page is deleted, which that page does not tell",
                try await shop.models.fetch(Catalogue()).elements.contains { $0.id == 4 },
                mustBe: true
            )
            let live = shop.models.live(Catalogue())
            let all = try await shop.models.reloadAllPages(of: Catalogue())
            visit.answer("All pages again", all.elements.contains { $0.id == 4 }, mustBe: false)
            await live.load()
            visit.answer("A view shows", live.elements.count, mustBe: all.elements.count)
        },

        Scenario("Pages by a Link header, and one bad element of a hundred") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Imports())
            let imports = try await shop.models.fetchMore(of: Imports())
            visit.answer("Good ones of a hundred", imports.elements.count, mustBe: 99)
            visit.answer("More", imports.hasMore, mustBe: false)
            await visit.refusal("The bad one by itself", mustBe: .notFound) {
                _ = try await shop.models.fetch(Product.self, id: 1_042)
            }
        },

        Scenario("A cursor that the server refuses") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Catalogue())
            try await visit.server.fault("status 400", at: "/products")
            await visit.refusal("The next page", mustBe: .cursorRefused) {
                _ = try await shop.models.fetchMore(of: Catalogue())
            }
            visit.answer(
                "The list stays",
                try await shop.models.stored(Catalogue())?.elements.count,
                mustBe: 4
            )
            try await visit.server.mend()
            _ = try await shop.models.fetch(Catalogue())
            visit.answer(
                "It begins again, and goes on",
                try await shop.models.fetchMore(of: Catalogue()).elements.count,
                mustBe: 8
            )
        },

        Scenario("A search by POST") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Search(text: "Product"))
            let found = try await shop.models.fetchMore(of: Search(text: "Product"))
            visit.answer("Two pages", found.elements.map(\.id), mustBe: [1, 2, 3, 4])
            do {
                _ = try await shop.models.fetch(Search(text: ""))
                visit.answer("An error with status 200 is thrown", false, mustBe: true)
            } catch let error as ModelCacheError {
                visit.answer(
                    "An error with status 200",
                    (error.cause as? Search.Refused)?.message,
                    mustBe: "Search for something."
                )
            }
        },

        Scenario("A chat, with earlier messages in front") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Chat())
            let scrolled = try await shop.models.fetchPrevious(of: Chat())
            visit.answer("Scrolled up", scrolled.elements.map(\.id), mustBe: Array(4...9))
            try await visit.server.addMessage()
            try await visit.wait()
            var chat = try await shop.models.fetch(Chat())
            visit.answer("A new message leaves the earlier ones", chat.elements.map(\.id), mustBe: Array(4...10))
            while chat.hasPrevious { chat = try await shop.models.fetchPrevious(of: Chat()) }
            visit.answer("To the first one", chat.elements.map(\.id), mustBe: Array(1...10))
        },
    ]
}
