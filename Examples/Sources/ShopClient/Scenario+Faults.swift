import ModelCache

extension Scenario {
    /// The faults, with the error of a fetch that has nothing else to show.
    private static let broken: [(fault: String, code: ModelCacheError.Code)] = [
        ("half a body", .transport), ("half a chunk", .transport), ("no answer", .transport),
        ("silence", .transport), ("bad gzip", .transport), ("redirects in a circle", .transport),
        ("a page of HTML", .decodingFailed), ("an empty body", .decodingFailed), ("status 204", .decodingFailed),
        ("JSON that is cut off", .decodingFailed), ("a wrong type", .decodingFailed),
        ("another form", .decodingFailed), ("another identity", .decodingFailed),
        ("status 500", .status), ("status 503", .status),
    ]

    /// Each fault meets a new product, a stale one, and a stale list.
    static let faults: [Scenario] = broken.map { fault, code in
        Scenario("A broken answer: \(fault)") { visit in
            // Silence has to end before long, and no other answer has.
            let shop = try await visit.open(timeout: fault == "silence" ? .seconds(3) : .seconds(60))
            let models = shop.models
            _ = try await models.fetch(Product.self, id: 2)
            _ = try await models.fetch(Catalogue())
            let former = try await models.stored(Catalogue())
            try await visit.wait()
            for path in ["/products", "/products/1", "/products/2"] {
                try await visit.server.fault(fault, at: path)
            }

            async let product = models.fetch(Product.self, id: 2)
            async let catalogue = models.fetch(Catalogue())
            await visit.refusal("A new product", mustBe: code) { _ = try await models.fetch(Product.self, id: 1) }
            visit.answer("A stale one", try await product.name, mustBe: "Product 2")
            visit.answer("A stale list", try await catalogue.elements.map(\.id), mustBe: [10, 9, 8, 7])
            visit.answer("Both failures are told", visit.reported(), mustBe: [code, code])
            let stored = try await models.stored(Product.self, id: 1)
            let present = try await models.stored(Catalogue())
            visit.answer(
                "Nothing of the answers is stored",
                stored == nil && present?.elements == former?.elements,
                mustBe: true
            )

            try await visit.server.mend()
            visit.answer(
                "Mended, all three are fresh",
                [
                    try await models.fetchSnapshot(Product.self, id: 1).freshness.isFresh,
                    try await models.fetchSnapshot(Product.self, id: 2).freshness.isFresh,
                    try await models.fetch(Catalogue()).freshness.isFresh,
                ],
                mustBe: [true, true, true]
            )
        }
    }
}
