import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// Machines that share a server: tiers with connections of their own, which know nothing of each other.
struct Fleet {
    let server: RedisServer
    let prefix = "test-\(UUID().uuidString.prefix(8))"

    /// - Parameter hasOwnServer: whether the test ends, stops, fills or counts it: others share one, by prefixes of their own.
    init(hasOwnServer: Bool = false) async throws {
        server = hasOwnServer ? try await RedisServer() : try #require(RedisServer.common)
    }

    /// - Parameters:
    ///   - port: of a proxy; `nil` for the server's own.
    ///   - timeout: in milliseconds.
    func machine(
        through port: UInt16? = nil,
        timeout: Int = 600_000,
        heartbeat: Duration = .milliseconds(20),
        deadline: Duration = .seconds(600),
        lease: Duration = .seconds(3_600),
        _ change: (inout SharedSettings) -> Void = { _ in }
    ) throws -> SharedTier {
        var settings = SharedSettings(
            timeouts: .init(connect: .seconds(5), soft: .milliseconds(timeout), hard: .milliseconds(timeout)),
            heartbeat: .init(interval: heartbeat, deadline: deadline),
            breaker: .init(pause: .milliseconds(20), longestPause: .milliseconds(50)),
            loads: .oncePerFleet(lease: lease)
        )
        change(&settings)
        return try SharedTier("redis://127.0.0.1:\(port ?? server.port)/?prefix=\(prefix)", settings)
    }

    /// A machine that may answer from memory.
    func verifiedMachine(lease: Duration = .seconds(3_600)) async throws -> SharedTier {
        let tier = try machine(lease: lease)
        try await tier.verified()
        return tier
    }
}

extension SharedTier {
    func verified() async throws {
        try await wait(until: isVerified)
    }

    /// Waits until the tier has read the server's clock, which it does once a minute: a test may set another one then.
    func clockWasRead() async throws {
        try await wait(until: upkeep.hasReadClock)
    }

    func cache(_ schema: UInt32 = 0) throws -> Cache<String> {
        try Cache(name: "cities", shared: self, schema: schema)
    }

    /// Asks the server after the caches' back.
    func ask(_ command: RedisCommand) async throws -> RedisValue { try await client.send(command) }

    /// Has the server end the channel on which it tells this tier of changes.
    func cutChannel(by other: SharedTier) async throws {
        let information = try #require(try await ask(["CLIENT", "INFO"]).text)
        let field = try #require(information.split(separator: " ").first { $0.hasPrefix("redir=") })
        let number = try #require(Int(field.dropFirst("redir=".count)))
        _ = try await other.ask(["CLIENT", "KILL", "ID", .integer(number)])
    }

    /// The names of all entries.
    func names() async throws -> [String] {
        let found = try await ask(["KEYS", .text(prefix + "*")]).elements ?? []
        return found.compactMap(\.text).filter { $0.hasSuffix("}") }.sorted()
    }
}

/// The code of the cache's error that a call throws; `nil` for no error.
func code(_ body: () async throws -> Void) async throws -> CacheError.Code? {
    do {
        try await body()
        return nil
    } catch let error as CacheError {
        return error.code
    }
}

/// Waits until a fetch gives a value.
func fetch(_ value: String?, from cache: Cache<String>, key: String = "key") async throws {
    try await wait(until: await cache.fetch(forKey: key) == value)
}

/// Repeats a call until the server answers it.
func insist<Result>(_ body: () async throws -> Result) async throws -> Result {
    while true {
        do {
            return try await body()
        } catch let error as CacheError where error.code == .unreachable {
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
