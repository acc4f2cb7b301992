import BenchmarkKit
import Foundation
import ModelCache
import Synchronization
import TypedCache

/// A model that counts how many of it are in memory.
private struct KeptProduct: CachedModel {
    static let modelName = "kept-product"
    static let policy = ModelPolicy(memory: MemorySettings(countLimit: KeptModels.limit))
    let id: Int
    var stock: Counted

    static func request(for id: Int) -> ModelRequest { .get("/products/\(id)") }
}

private final class Counted: Codable, Equatable, Sendable {
    static let living = Atomic(0)
    let value: Int

    init(_ value: Int) {
        self.value = value
        Self.living.add(1, ordering: .relaxed)
    }

    convenience init(from decoder: any Decoder) throws { self.init(try Int(from: decoder)) }

    deinit { Self.living.subtract(1, ordering: .relaxed) }

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
    static func == (left: Counted, right: Counted) -> Bool { left.value == right.value }
}

/// 10,000 models at a limit of 2,000 in memory, and observers that end: how many models stay in memory.
struct KeptModels {
    static let limit = 2_000
    private static let count = 10_000
    private static let observerCount = 100

    func run(_ context: Context) throws {
        let folder = try context.makeFolder("keep")
        let (saved, observed, ended) = try wait {
            let models = try await Models(
                account: "benchmark",
                types: [KeptProduct.self],
                directory: folder,
                transport: nil
            )
            let saved = try await save(0, models)
            let observed = await observe(models)
            // All are changed, so that observers alone have the former ones.
            let ended = try await save(1, models)
            try await models.close()
            return (saved, observed, ended)
        }
        let work = "keep 10,000 models at a limit of 2,000 in memory"
        func record(_ subject: String, _ living: Int) {
            context.value(work: work, subject: subject, isOurs: true, unit: "models", samples: [Double(living)])
        }
        record("ModelCache, the most after a save of 1,000", saved)
        record("ModelCache, while 100 observers have them all", observed)
        record("ModelCache, after the observers have ended and all were changed", ended)
    }

    /// - Returns: the most models in memory after one of the saves.
    private func save(_ version: Int, _ models: Models) async throws -> Int {
        var most = 0
        for first in stride(from: 0, to: Self.count, by: 1_000) {
            try await models.save((first..<first + 1_000).map { KeptProduct(id: $0, stock: Counted(version)) })
            await models.flush()
            most = max(most, Counted.living.load(ordering: .relaxed))
        }
        return most
    }

    /// Has all models observed, and ends the observers.
    ///
    /// - Returns: how many models are in memory while each observer has its snapshot.
    private func observe(_ models: Models) async -> Int {
        let observers = (0..<Self.observerCount).map { number in
            let ids = Array(stride(from: number, to: Self.count, by: Self.observerCount))
            return models.updates(of: KeptProduct.self, ids: ids).makeAsyncIterator()
        }
        for observer in observers { _ = await observer.next(isolation: nil) }
        defer { withExtendedLifetime(observers) {} }
        return Counted.living.load(ordering: .relaxed)
    }
}
