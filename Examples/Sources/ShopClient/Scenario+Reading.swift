import Foundation
import ModelCache

extension Scenario {
    static let reading: [Scenario] = [
        Scenario("Null fields, parts and whole forms") { visit in
            let shop = try await visit.open()
            let catalogue = try await shop.models.fetch(Catalogue())
            visit.answer(
                "The newest product of the catalogue is stored",
                try await shop.models.stored(Product.self, id: 10)?.freshness.staleReason,
                mustBe: .incomplete
            )
            let sellers = try await shop.models.fetch(catalogue.elements.map(\.seller))
            visit.answer(
                "Its sellers came inside",
                sellers.values.map(\.name).sorted(),
                mustBe: ["Brick & Sons", "Kite Co."]
            )
            _ = try await visit.server.requests()
            for _ in 1...3 { _ = try await shop.models.fetch(Product.self, id: 10) }
            visit.answer(
                "Three fetches of the product, whose description is null, send requests",
                try await visit.server.requests(),
                mustBe: ["GET /products/10 200"]
            )
            _ = try await shop.models.fetch(Product.self, id: 9)
            let again = try await shop.models.fetch(Catalogue(), .reload)
            visit.answer(
                "The description of another one, when the catalogue comes again without it",
                again.elements[1].description,
                mustBe: "All about product 9."
            )
        },

        Scenario("The same again: 304, gzip, and a second launch without the server") { visit in
            let shop = try await visit.open()
            _ = try await shop.models.fetch(Catalogue())
            _ = try await shop.models.fetch(Product.self, id: 1)
            _ = try await visit.server.requests()
            try await visit.wait()
            let product = try await shop.models.fetch(Product.self, id: 1)
            visit.answer("The price is a decimal number", product.price.amount, mustBe: Decimal(1.5))
            _ = try await shop.models.fetch(Catalogue())
            visit.answer(
                "Stale, both are confirmed",
                try await visit.server.requests(),
                mustBe: ["GET /products/1 304", "GET /products 304"]
            )
            try await visit.server.addProduct()
            try await visit.wait()
            visit.answer(
                "A new product is in the catalogue",
                try await shop.models.fetch(Catalogue()).elements.first?.id,
                mustBe: 11
            )
            visit.answer("It came packed", try await visit.server.requests(), mustBe: ["GET /products 200 gzip"])

            try await shop.models.close()
            try await visit.wait()
            try visit.server.stop()
            let later = try await visit.open()
            let stale = try await later.models.fetch(Catalogue())
            visit.answer(
                "Without the server the catalogue has",
                stale.elements.map(\.id),
                mustBe: [11, 10, 9, 8, 7]
            )
            visit.answer("It is stale, for it has", stale.freshness.staleReason, mustBe: .expired)
            visit.answer("The failure is told", visit.reported(), mustBe: [.transport])
            await visit.refusal("A product that is not stored", mustBe: .transport) {
                _ = try await later.models.fetch(Product.self, id: 2)
            }
            later.models.mode = .offline
            await visit.refusal("The same, offline", mustBe: .offline) {
                _ = try await later.models.fetch(Product.self, id: 2)
            }
        },

        Scenario("Resources without identities, and identities of two forms") { visit in
            let shop = try await visit.open()
            visit.answer(
                "The signed-in user",
                try await shop.models.fetch(Me()).elements.map(\.name),
                mustBe: ["Ada"]
            )
            visit.answer(
                "The user is a customer as any other",
                try await shop.models.stored(Customer.self, id: 7)?.value.name,
                mustBe: "Ada"
            )
            let cart = try await shop.models.fetch(Cart.self, id: "cart")
            let products = try await shop.models.fetch(cart.items.map(\.product))
            visit.answer("The cart has", cart.items.map { products[$0.product.id]?.name }, mustBe: ["Product 3"])
            let orders = try await shop.models.fetch(Orders())
            visit.answer("Orders", orders.elements.map(\.id.description), mustBe: ["17"])
            _ = try await visit.server.requests()
            _ = try await shop.models.fetch(Order.self, id: orders.elements[0].id, .reload)
            visit.answer(
                "A number in the list is the string of the order",
                try await visit.server.requests(),
                mustBe: ["GET /orders/17 200"]
            )
            visit.answer("There is one", try await shop.models.fetch(Orders()).elements.count, mustBe: 1)
        },

        Scenario("Several types in one list, models beside the answer, languages") { visit in
            let shop = try await visit.open()
            let highlights = try await shop.models.fetch(Highlights())
            var names: [String] = []
            for highlight in highlights.elements {
                switch highlight {
                case .product(let link):
                    if let product = try await shop.models.stored(Product.self, id: link.id) {
                        names.append(product.value.name)
                    }
                case .seller(let link): names.append(try await shop.models.fetch(link).name)
                }
            }
            visit.answer("Highlights", names, mustBe: ["Product 2", "Kite Co."])
            let collection = try await shop.models.fetch(Collection.self, id: 5)
            visit.answer(
                "Stored with the collection",
                try await shop.models.stored(Product.self, ids: collection.products.map(\.id)).keys.sorted(),
                mustBe: [1, 4]
            )
            visit.answer(
                "The greeting, as Accept-Language says",
                [
                    try await shop.models.fetch(Greeting.self, id: "greeting").text,
                    try await Greeting.$language.withValue("fr") {
                        try await shop.models.fetch(Greeting.self, id: "greeting").text
                    },
                ],
                mustBe: ["Welcome", "Bienvenue"]
            )
        },

        Scenario("Several at once") { visit in
            let shop = try await visit.open()
            let found = try await shop.models.fetch(Product.self, ids: [1, 2, 77])
            visit.answer("Of 1, 2 and 77 there are", found.keys.sorted(), mustBe: [1, 2])
            visit.answer(
                "One request",
                try await visit.server.requests().filter { $0.contains("ids=") && $0.contains(" 200") }.count,
                mustBe: 1
            )
            try await visit.server.delete(product: 2)
            try await visit.wait()
            visit.answer(
                "When 2 is deleted",
                try await shop.models.fetch(Product.self, ids: [1, 2, 77]).keys.sorted(),
                mustBe: [1]
            )
            visit.answer(
                "It is stored no longer",
                try await shop.models.stored(Product.self, id: 2) == nil,
                mustBe: true
            )
        },
    ]
}
