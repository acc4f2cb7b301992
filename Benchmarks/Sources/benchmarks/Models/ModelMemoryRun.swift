import BenchmarkKit
import Foundation
import ModelCache

/// The memory of a model that was read from disk, beside that of an element of an array.
struct ModelMemoryRun {
    func run(_ context: Context) throws {
        let count = context.isOnce ? 1_000 : context.isQuick ? 10_000 : 100_000
        let folder = try context.makeFolder("memory")
        try wait {
            let models = try await Models.offers(in: folder)
            for first in stride(from: 0, to: count, by: 1_000) {
                try await models.save((first..<first + 1_000).map { Offer.make($0) })
            }
            try await models.close()
        }
        guard ProcessMemory.allocatedByteCount != nil else {
            return context.unavailable(
                work: Self.work,
                parameters: ["offers": "\(count)"],
                subject: "ModelCache",
                reason: "the C library does not report it"
            )
        }
        let held = try wait {
            let models = try await Models.offers(in: folder)
            _ = try await models.stored(Offer.self, id: 0)
            let before = Self.allocated
            for first in stride(from: 0, to: count, by: 1_000) {
                guard try await models.stored(Offer.self, ids: first..<first + 1_000).count == 1_000 else {
                    throw BenchmarkError("models are missing")
                }
            }
            let held = Self.allocated - before
            try await models.close()
            return held
        }
        let before = Self.allocated
        let array = (0..<count).map { Offer.make($0) }
        let plain = Self.allocated - before
        withExtendedLifetime(array) {}
        record("ModelCache", isOurs: true, bytes: held, count: count, in: context)
        record("an array", isOurs: false, bytes: plain, count: count, in: context)
        context.value(
            work: "memory of an offer, to that in an array",
            parameters: ["offers": "\(count)"],
            subject: "ModelCache",
            isOurs: true,
            unit: "×",
            samples: [Double(held) / Double(plain)]
        )
    }

    private static let work = "memory of an offer"
    private static var allocated: Int { ProcessMemory.allocatedByteCount ?? 0 }

    private func record(_ subject: String, isOurs: Bool, bytes: Int, count: Int, in context: Context) {
        context.value(
            work: Self.work,
            parameters: ["offers": "\(count)"],
            subject: subject,
            isOurs: isOurs,
            unit: "bytes",
            samples: [Double(bytes) / Double(count)]
        )
    }
}
