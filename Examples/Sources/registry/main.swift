import Foundation
import TypedCache
import TypedCacheTesting

/// A client of a service: one request however many ask, revalidation by version, old values while the service is down.
func run() async throws {
    let clock = ManualClock()
    let registry = Registry()
    let repositories = try await Cache<Repository>.open(name: "repositories", settings: CacheSettings(clock: clock))
    try await repositories.removeAll()
    let expiration = Expiration.after(.seconds(60)).servingStaleOnError(for: .seconds(3_600))

    @Sendable func repository(_ number: Int) async throws -> Repository {
        try await repositories.fetch(forKey: number, expiration: expiration, tags: ["user 7"]) { former in
            guard let new = try await registry.repository(number, unless: former?.version) else {
                return .unchanged()
            }
            return .new(new)
        }
    }

    let before = repositories.statistics
    try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<100 { group.addTask { try await repository(42).version } }
        for try await version in group where version != 1 { print("a wrong version: \(version)") }
    }
    let during = repositories.statistics - before
    print("100 fetches at once: \(await registry.fullAnswers) request, \(during.loads) load")

    clock.advance(by: .seconds(61))
    print("expired, unchanged: version \(try await repository(42).version)")
    print("requests: \(await registry.fullAnswers) full, \(await registry.shortAnswers) short")

    await registry.publish()
    clock.advance(by: .seconds(61))
    print("expired, changed: version \(try await repository(42).version)")

    await registry.unplug()
    clock.advance(by: .seconds(61))
    print("service down: version \(try await repository(42).version)")

    print("entries of user 7 removed: \(try await repositories.removeAll(tagged: "user 7"))")
    do {
        _ = try await repository(42)
    } catch is Registry.Unreachable {
        print("nothing left to serve")
    }
    try await repositories.close()
}

try await run()
