import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing
import TypedCache

@testable import SharedCache

/// The metrics of tiers beside those of caches.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct TierMetricsTests {
    /// The samples by name and labels, without the labels that all samples of a tier have.
    private func samples(_ metrics: CacheMetrics, of tier: SharedTier, _ prefix: String) -> [String: Double] {
        var samples: [String: Double] = [:]
        for line in metrics.text().split(separator: "\n") where line.hasPrefix("typed_cache_server_") {
            let labels = #"prefix="\#(prefix)",server="\#(tier.node)""#
            guard let place = line.range(of: labels), let end = line.lastIndex(of: " ") else { continue }
            let name = line[..<place.lowerBound] + line[place.upperBound..<end]
            samples[String(name.dropFirst("typed_cache_server_".count))] = Double(line[line.index(after: end)...])
        }
        return samples
    }

    @Test func aTierIsShownBesideItsCaches() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let metrics = CacheMetrics()
        let tier = try fleet.machine()
        metrics.add(tier)
        metrics.add(tier)
        try await tier.verified()
        let cache = try tier.cache()
        let other = try await fleet.verifiedMachine().cache()
        try await cache.save("value", forKey: "key")
        #expect(try await cache.fetch(forKey: "none") == nil)
        #expect(try await other.fetch(forKey: "key") == "value")
        #expect(try await cache.fetch(forKey: "loaded") { "value" } == "value")
        _ = try await cache.fetch(forKey: "key", freshness: .latest)
        let before = tier.latency
        _ = try await cache.fetch(forKey: "key", freshness: .latest)
        #expect(tier.latency.count == before.count + 1 && tier.latency.sum > before.sum)
        #expect(tier.latency.counts.count == tier.latency.bounds.count + 1)
        let found = samples(metrics, of: tier, fleet.prefix)
        #expect(found[#"leases_total{,result="taken"}"#] == 1)
        #expect(found[#"leases_total{,result="lost"}"#] == 0)
        #expect(found["operation_duration_seconds_count{}"] == Double(tier.latency.count))
        #expect(found[#"operation_duration_seconds_bucket{,le="+Inf"}"#] == Double(tier.latency.count))
        #expect(found[#"fetches_total{,result="miss"}"#] == Double(tier.statistics.misses))
        #expect(found["timeouts_total{}"] == 0 && found["owed_keys{}"] == 0 && found["debts_total{}"] == 0)
        #expect(found[#"redirects_total{,kind="moved"}"#] == 0)
        #expect(found[#"state{,node="\#(tier.node)",state="connected"}"#] == 1)
        #expect(found[#"state{,node="\#(tier.node)",state="open"}"#] == 0)
        #expect((found[#"io_bytes_total{,direction="transmit"}"#] ?? 0) > 0)
        // Comparisons have a result.
        #expect(found[#"compares_total{,result="verified"}"#] == 2)
    }

    /// A hit given without the server, a debt, a timeout, and the end of them.
    @Test func anOutageIsShown() async throws {
        let fleet = try await Fleet(hasOwnServer: true)
        let metrics = CacheMetrics()
        let tier = try fleet.machine(timeout: 100, deadline: .milliseconds(1)) { settings in
            settings.whenUnreachable = .init(serve: .seconds(3_600))
            settings.breaker.failures = 10_000
        }
        metrics.add(tier)
        try await tier.verified()
        let cache = try tier.cache()
        try await insist { try await cache.save("value", forKey: "key") }
        try await wait(until: (try? await cache.fetch(forKey: "key")) == "value")
        try await fleet.server.stopped {
            try await wait(until: !tier.isVerified)
            let served = tier.statistics.unverifiedHits
            try await wait(
                until: await (try? cache.fetch(forKey: "key")) == "value" && tier.statistics.unverifiedHits > served
            )
            #expect(try await code { try await cache.save("other", forKey: "debt") } == .unreachable)
            let found = samples(metrics, of: tier, fleet.prefix)
            #expect((found[#"compares_total{,result="unverified"}"#] ?? 0) > 0)
            #expect((found["timeouts_total{}"] ?? 0) > 0)
            #expect(found["debts_total{}"] == 1 && found["owed_keys{}"] == 1)
            #expect(found[#"state{,node="\#(tier.node)",state="unverified"}"#] == 1)
        }
        try await wait(until: samples(metrics, of: tier, fleet.prefix)["owed_keys{}"] == 0)
    }

    /// Each metric has its help once, and samples of all tiers; a tier that is gone is left out.
    @Test func severalTiersShareEachMetric() async throws {
        let fleet = try await Fleet()
        let metrics = CacheMetrics()
        let one = try fleet.machine()
        metrics.add(one)
        do {
            let other = try fleet.machine()
            metrics.add(other)
        }
        let second = try SharedTier("redis://127.0.0.1:\(fleet.server.port)/?prefix=second")
        metrics.add(second)
        let lines = metrics.text(.openMetrics).split(separator: "\n")
        let names = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
        #expect(Set(names).count == names.count)
        #expect(lines.count { $0.hasPrefix("typed_cache_server_owed_keys{") } == 2)
        #expect(lines.count { $0.hasPrefix("typed_cache_server_timeouts_total{") } == 2)
        #expect(lines.last == "# EOF")
    }
}
