import Foundation
import RedisServers
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// The latest value is the server's answer, or there is none.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct LatestTests {
    @Test(arguments: [false, true]) func theLatestValueIsTheServersOrTheServerIsUnreachable(isBlocking: Bool)
        async throws
    {
        let fleet = try await Fleet(hasOwnServer: true)
        let tier = try fleet.machine(timeout: 200, heartbeat: .milliseconds(50)) {
            $0.whenUnreachable.keep = .seconds(600)
        }
        try await tier.verified()
        let cache = try tier.cache()
        for key in ["read", "owed"] { try await insist { try await cache.save("saved", forKey: key) } }
        func latest(_ key: String) async throws -> CacheError.Code? {
            try await code {
                let block: () throws -> String? = { try cache.fetch(forKey: key, freshness: .latest) }
                let value = isBlocking ? try block() : try await cache.fetch(forKey: key, freshness: .latest)
                Issue.record("\(key) was answered by \(value ?? "nothing")")
            }
        }
        try await fleet.server.stopped {
            let read = try await latest("read")
            let loaded = try await cache.fetch(forKey: "loaded") { "made here" }
            // Memory keeps it, as the settings say.
            let kept = try await cache.fetch(forKey: "loaded") { "made again" }
            let latestLoaded = try await latest("loaded")
            let save = try await code { try await cache.save("unsaved", forKey: "owed") }
            let owed = try await latest("owed")
            #expect([read, latestLoaded, save, owed] == [.unreachable, .unreachable, .unreachable, .unreachable])
            #expect([loaded, kept] == ["made here", "made here"])
        }
        let other = try await fleet.verifiedMachine().cache()
        try await other.save("of another", forKey: "loaded")
        #expect(try await insist { try await cache.fetch(forKey: "loaded", freshness: .latest) } == "of another")
        #expect(try await insist { try await cache.fetch(forKey: "owed", freshness: .latest) } == nil)
    }
}
