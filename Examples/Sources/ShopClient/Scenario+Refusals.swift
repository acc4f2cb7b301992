import Foundation
import ModelCache

extension Scenario {
    private struct Problem: Decodable {
        var title: String
        var code: Int?
    }

    static let refusals: [Scenario] = [
        Scenario("An expired token: 401") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Product.self, id: 1)
            try await visit.server.expireToken()
            _ = try await visit.server.requests()
            let fetches = (2...9).map { id in Task { try await shop.models.fetch(Product.self, id: id).id } }
            var ids: [Int] = []
            for fetch in fetches { ids.append(try await fetch.value) }
            visit.answer("Fetches at once", ids, mustBe: Array(2...9))
            let requests = try await visit.server.requests()
            visit.answer("New tokens", requests.count { $0.hasPrefix("POST /login") }, mustBe: 1)
            visit.answer("Products", requests.count { $0.hasSuffix(" 200") && $0.hasPrefix("GET") }, mustBe: 8)
        },

        Scenario("Refusals: 403, 404 and 410") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Product.self, id: 1)
            try await visit.wait()
            try await visit.server.fault("status 403", at: "/products/1")
            do {
                _ = try await shop.models.fetch(Product.self, id: 1)
                visit.answer("A stale product that may not be shown is refused", false, mustBe: true)
            } catch let error as ModelCacheError {
                visit.answer("A stale product that may not be shown", error.status, mustBe: 403)
                visit.answer(
                    "The server's words",
                    try error.decode(Problem.self).title,
                    mustBe: "Not sold in your country"
                )
            }
            await visit.refusal("A product that never was", mustBe: .notFound) {
                _ = try await shop.models.fetch(Product.self, id: 77)
            }
            _ = try await shop.models.fetch(Product.self, id: 2)
            try await visit.server.delete(product: 2)
            visit.answer(
                "A deleted one that is fresh",
                try await shop.models.fetch(Product.self, id: 2).id,
                mustBe: 2
            )
            let live = shop.models.live(Product.self, id: 2)
            await live.reload()
            visit.answer("Reloaded (410)", live.error?.status, mustBe: 410)
            visit.answer("The view shows nothing", live.value == nil, mustBe: true)
        },

        Scenario("A busy server: 429 and 503 with Retry-After, 500") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Product.self, id: 1)
            for fault in ["too many requests", "closed for a moment"] {
                try await visit.wait()
                try await visit.server.fault(fault, at: "/products/1")
                _ = try await visit.server.requests()
                var names: Set<String> = []
                for _ in 1...5 { names.insert(try await shop.models.fetch(Product.self, id: 1).name) }
                visit.answer("Five fetches (\(fault))", names, mustBe: ["Product 1"])
                visit.answer("Requests", try await visit.server.requests().count, mustBe: 1)
                visit.answer("The failure is told", visit.reported().first, mustBe: .status)
                try await visit.server.mend()
                try await visit.wait()
                _ = try await shop.models.fetch(Product.self, id: 1)
                visit.answer("After that time", try await visit.server.requests(), mustBe: ["GET /products/1 304"])
            }
            try await visit.server.fault("too many requests", at: "/products/2")
            do {
                _ = try await shop.models.fetch(Product.self, id: 2)
                visit.answer("A new product is refused", false, mustBe: true)
            } catch let error as ModelCacheError {
                visit.answer("A new product", error.status, mustBe: 429)
                let seconds = error.retryAt.map { Int($0.timeIntervalSince(visit.clock.now).rounded()) }
                visit.answer("Seconds to wait", seconds, mustBe: 30)
            }
        },

        Scenario("A slow server") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Product.self, id: 1)
            try await visit.server.set(priceOf: 1, to: "2.00")
            try await visit.wait()
            try await visit.server.fault("slow", at: "/products/1")
            let quick = try await shop.models.fetch(
                Product.self,
                id: 1,
                .automatic(waitingAtMost: .milliseconds(50))
            )
            visit.answer("After 50 ms the stale price", quick.price.amount, mustBe: Decimal(1.5))
            let again = try await shop.models.fetch(Product.self, id: 1, .staleWhileRevalidate)
            visit.answer("At once the stale price", again.price.amount, mustBe: Decimal(1.5))
            let updates = shop.models.updates(of: Product.self, id: 1)
            try await visit.server.mend()
            for await snapshot in updates where snapshot?.freshness.isFresh == true {
                visit.answer("When the answer is there", snapshot?.value.price.amount, mustBe: 2)
                break
            }
            visit.answer("Failures", visit.reported(), mustBe: [])
        },

        Scenario("Answers that are not to be kept, or not to be shown stale") { visit in
            let shop = try await visit.open()
            try await visit.server.fault("a secret", at: "/products/1")
            visit.answer("no-store", try await shop.models.fetch(Product.self, id: 1).name, mustBe: "Product 1")
            visit.answer("It is stored", try await shop.models.stored(Product.self, id: 1) != nil, mustBe: false)
            try await visit.server.fault("a value to confirm", at: "/products/1")
            visit.answer(
                "must-revalidate",
                try await shop.models.fetch(Product.self, id: 1).name,
                mustBe: "Product 1"
            )
            try await visit.wait()
            try await visit.server.fault("status 500", at: "/products/1")
            await visit.refusal("Stale, and the server fails", mustBe: .status) {
                _ = try await shop.models.fetch(Product.self, id: 1)
            }
        },
    ]
}
