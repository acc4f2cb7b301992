import Foundation
import ModelCache

extension Scenario {
    private struct Problem: Decodable {
        var title: String
        var errors: [String: String]?
    }

    static let changes: [Scenario] = [
        Scenario("A review that is edited before it has an identity") { visit in
            let shop = try await visit.open()
            let ada = try await shop.models.fetch(Me()).elements[0]
            _ = try await shop.models.fetch(Reviews(product: 3))
            try await visit.server.fault("slow", at: "/products/3/reviews")
            let posting = Task { try await shop.write(review: "Good.", of: 3, by: ada, as: -1) }
            for await list in shop.models.updates(of: Reviews(product: 3)) {
                guard let last = list?.elements.last, last.id < 0 else { continue }
                visit.answer("Shown at once", last.text, mustBe: "Good.")
                break
            }
            let editing = Task { try await shop.edit(review: -1, "Very good.") { try await posting.value } }
            for await review in shop.models.updates(of: Review.self, id: -1)
            where review?.value.text == "Very good." {
                visit.answer("The edit shows, and waits", review?.isChanging, mustBe: true)
                break
            }
            try await visit.server.mend()
            visit.answer("The server's identity", try await posting.value, mustBe: 2)
            try await editing.value
            let stored = try await shop.models.stored(Reviews(product: 3))
            visit.answer("Afterwards", stored?.elements.map(\.text), mustBe: ["Flies well.", "Very good."])
            visit.answer("Unconfirmed", stored?.isChanging, mustBe: false)
            visit.answer(
                "So it is on the server",
                try await shop.models.fetch(Reviews(product: 3), .reload).elements.map(\.text),
                mustBe: ["Flies well.", "Very good."]
            )
        },

        Scenario("A review that the server refuses") { visit in
            let shop = try await visit.open()
            let ada = try await shop.models.fetch(Me()).elements[0]
            _ = try await shop.models.fetch(Reviews(product: 3))
            do {
                _ = try await shop.write(review: "", of: 3, by: ada, as: -1)
                visit.answer("The refusal is thrown", false, mustBe: true)
            } catch let error as ModelResponseError {
                let problem = try JSONDecoder().decode(Problem.self, from: error.response.body)
                visit.answer("The server's words (422)", problem.errors?["text"], mustBe: "It is empty.")
            }
            visit.answer(
                "The list is as it was",
                try await shop.models.stored(Reviews(product: 3))?.elements.map(\.id),
                mustBe: [1]
            )
        },

        Scenario("Changes with If-Match: 412 and 409") { visit in
            let shop = try await visit.open()
            let product = try await shop.models.fetch(Product.self, id: 4)
            try await visit.server.set(priceOf: 4, to: "5.00")
            do {
                try await shop.change(priceOf: product, to: 6)
                visit.answer("The refusal is thrown", false, mustBe: true)
            } catch let error as ModelResponseError {
                visit.answer("Another device was first", error.response.status, mustBe: 412)
            }
            visit.answer(
                "The change is taken back",
                try await shop.models.stored(Product.self, id: 4)?.value.price.amount,
                mustBe: Decimal(4.5)
            )
            let other = try await shop.models.fetch(Product.self, id: 4, .reload)
            visit.answer("The other device's price", other.price.amount, mustBe: 5)
            try await shop.change(priceOf: other, to: 6)
            let changed = try await shop.models.fetch(Product.self, id: 4)
            visit.answer("Changed on top of that", changed.price.amount, mustBe: 6)
            do {
                try await shop.change(priceOf: changed, to: Decimal(0.5))
                visit.answer("The refusal is thrown", false, mustBe: true)
            } catch let error as ModelResponseError {
                visit.answer(
                    "The version is the new one, and the price too low",
                    error.response.status,
                    mustBe: 409
                )
            }
            try await shop.change(priceOf: changed, to: 7)
            visit.answer(
                "A further change needs no request for the version",
                try await visit.server.requests().filter { $0.contains("/products/4") && !$0.hasSuffix("401") },
                mustBe: [
                    "GET /products/4 200", "PATCH /products/4 412", "GET /products/4 200", "PATCH /products/4 200",
                    "PATCH /products/4 409", "PATCH /products/4 200",
                ]
            )
        },

        Scenario("A product that is deleted") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Catalogue())
            _ = try await shop.models.fetch(Search(text: "Product 9"))
            try await shop.delete(product: 9)
            visit.answer(
                "The catalogue without it",
                try await shop.models.stored(Catalogue())?.elements.map(\.id),
                mustBe: [10, 8, 7]
            )
            visit.answer(
                "The search without it",
                try await shop.models.stored(Search(text: "Product 9"))?.elements.count,
                mustBe: 0
            )
            _ = try await visit.server.requests()
            _ = try await shop.models.fetch(Catalogue())
            visit.answer("Neither asks for it", try await visit.server.requests(), mustBe: [])
            await visit.refusal("The server says that it is gone (410)", mustBe: .notFound) {
                _ = try await shop.models.fetch(Product.self, id: 9)
            }
        },

        Scenario("Changes since a version") { visit in
            let shop = try await visit.open()
            let version = try await shop.synchronize(since: "0")
            visit.answer(
                "All products are stored",
                try await shop.models.stored(Product.self, ids: 1...10).count,
                mustBe: 10
            )
            _ = try await shop.models.fetch(Catalogue())
            try await visit.server.set(priceOf: 10, to: "11.00")
            try await visit.server.delete(product: 8)
            _ = try await shop.synchronize(since: version)
            let catalogue = try await shop.models.stored(Catalogue())
            visit.answer("The catalogue follows", catalogue?.elements.map(\.id), mustBe: [10, 9, 7])
            visit.answer("The price follows", catalogue?.elements.first?.price.amount, mustBe: 11)
            visit.answer("Holes", catalogue?.holes, mustBe: [])
        },

        Scenario("Signing out") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Catalogue())
            let live = shop.models.live(Catalogue())
            await live.load()
            try await visit.server.fault("slow", at: "/products/1")
            let loading = Task { try await shop.models.fetch(Product.self, id: 1) }
            try await shop.models.erase()
            try await visit.server.mend()
            await visit.refusal("A load that was under way", mustBe: .closed) { _ = try await loading.value }
            while !live.isEnded { await Task.yield() }
            visit.answer("A view shows", live.elements.count, mustBe: 0)
            visit.answer("Files on this device", visit.fileCount, mustBe: 0)
        },
    ]
}
