import Forecasts
import Testing
import TypedCache
import TypedCacheTesting

/// How code that uses a cache is tested: time is moved by hand, the disk fails on demand, nothing is left behind.
@Suite struct ForecastsTests {
    private let service = Service()
    private let clock = ManualClock()

    private func forecasts(_ cache: Cache<Forecast>) -> Forecasts {
        let service = service
        return Forecasts(cache: cache) { try await service.forecast(for: $0) }
    }

    @Test func manyWhoAskAtOnceMakeOneRequest() async throws {
        try await withTemporaryCache(of: Forecast.self) { cache in
            let forecasts = forecasts(cache)
            try await withThrowingTaskGroup(of: Forecast.self) { group in
                for _ in 0..<50 { group.addTask { try await forecasts.forecast(for: "Lima", user: "ada") } }
                for try await forecast in group { #expect(forecast.city == "Lima") }
            }
            #expect(cache.statistics.loads == 1)
        }
        #expect(await service.requestCount == 1)
    }

    @Test func aForecastIsKeptForAnHour() async throws {
        try await withTemporaryCache(of: Forecast.self, settings: CacheSettings(clock: clock)) { cache in
            let forecasts = forecasts(cache)
            _ = try await forecasts.forecast(for: "Lima", user: "ada")
            await service.warm(to: 25)
            clock.advance(by: .seconds(3_599))
            #expect(try await forecasts.forecast(for: "Lima", user: "ada").degrees == 20)
            clock.advance(by: .seconds(1))
            #expect(try await forecasts.forecast(for: "Lima", user: "ada").degrees == 25)
        }
    }

    @Test func anOldForecastIsBetterThanNone() async throws {
        let recorder = EventRecorder()
        try await withTemporaryCache(
            of: Forecast.self,
            settings: CacheSettings(clock: clock, observer: recorder)
        ) { cache in
            let forecasts = forecasts(cache)
            _ = try await forecasts.forecast(for: "Lima", user: "ada")
            await service.unplug()
            clock.advance(by: .seconds(7_200))
            #expect(try await forecasts.forecast(for: "Lima", user: "ada").degrees == 20)
            clock.advance(by: .seconds(86_400))
            await #expect(throws: Service.Unreachable.self) {
                try await forecasts.forecast(for: "Lima", user: "ada")
            }
        }
        #expect(recorder.events.contains { $0.kind == .servedStale })
    }

    @Test func aFullDiskCostsOneRequest() async throws {
        let (directory, faults, recorder) = (try TemporaryDirectory(), DiskFaults(), EventRecorder())
        let cache = try Cache<Forecast>(
            name: "forecasts",
            directory: directory.url,
            settings: CacheSettings(observer: recorder).failing(by: faults)
        )
        faults.fail(.write, with: .noSpace)
        let forecasts = forecasts(cache)
        for _ in 0..<3 { #expect(try await forecasts.forecast(for: "Lima", user: "ada").degrees == 20) }
        #expect(await service.requestCount == 1)
        #expect(recorder.failures.count == 1)
    }

    @Test func nothingOfAUserIsLeftAfterSigningOut() async throws {
        let cache = try Cache<Forecast>(name: "forecasts", settings: CacheSettings(disk: nil))
        let forecasts = forecasts(cache)
        _ = try await forecasts.forecast(for: "Lima", user: "ada")
        _ = try await forecasts.forecast(for: "Oslo", user: "bob")
        try await forecasts.signOut(user: "ada")
        #expect(try cache.keys().all() == ["Oslo"])
    }
}
