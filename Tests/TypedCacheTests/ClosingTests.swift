import ArchiveStore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TypedCache

/// After `close()`, everything that was accepted is on disk, and every call is refused.
@Suite struct ClosingTests {
    private let directory = TestDirectory()
    private let city = City(name: "x", population: 1)

    private func cache(_ writing: DiskSettings.Writing, _ layout: DiskSettings.Layout) throws -> Cache<City> {
        try Cache(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(disk: DiskSettings(layout: layout, writing: writing))
        )
    }

    @Test(arguments: [DiskSettings.Writing.through, .behind(limit: .mebibytes(1))], [false, true])
    func aClosedCacheRefusesEverything(writing: DiskSettings.Writing, isAsync: Bool) async throws {
        let city = city
        for layout in [DiskSettings.Layout.packed, .files] {
            let cities = try cache(writing, layout)
            let neighbor = try cache(.through, layout)
            let idle = Expiration.afterIdle(.seconds(86_400))
            for number in 0..<100 { try await cities.save(city, forKey: number, expiration: idle) }
            #expect(try await cities.fetch(forKey: 1) == city)
            if isAsync { try await cities.close() } else { try Self.close(cities) }
            let calls: [@Sendable () async throws -> Void] = [
                { try await cities.save(city, forKey: "k") },
                { _ = try await cities.fetch(forKey: 1) },
                { _ = try await cities.fetch(forKeys: [1, 2]) },
                { _ = try await cities.fetch(forKey: "new") { city } },
                { _ = try await cities.contains(forKey: 1) },
                { try await cities.modify(forKey: 1) { $0 = nil } },
                { try await cities.remove(forKey: 1) },
                { try await cities.removeAll() },
                { try await cities.removeAll(tagged: "t") },
                { try await cities.removeExpired() },
                { try await cities.trimDisk(to: .bytes(0)) },
                { try await cities.removeAll { _ in true } },
                { _ = try await cities.extend(forKey: 1, expiration: .never) },
                { _ = try await cities.stored(forKey: 1) },
                { _ = try await cities.entry(forKey: 1) },
                { for try await _ in try cities.entries() {} },
                { _ = try await cities.count() },
                { try await cities.flush() },
                { try Self.callAll(cities) },
            ]
            for (index, call) in calls.enumerated() {
                let error = await #expect(throws: CacheError.self, "call \(index)") { try await call() }
                #expect(error?.code == .closed, "call \(index)")
            }
            try await cities.close()
            try Self.close(cities)
            #expect(cities.statistics.failures == 0)
            // The others go on, and nothing was lost or done.
            #expect(try await neighbor.count() == 100)
            try await neighbor.save(city, forKey: "k")
            let next = try cache(writing, layout)
            for number in 0..<100 { #expect(try await next.fetch(forKey: number) == city) }
            #expect(try await next.fetch(forKey: "k") == city)
            try await next.close()
            try await neighbor.close()
            try FileManager.default.removeItem(at: directory.url)
        }
    }

    /// A save that finds its cache closed has changed nothing, so the other caches go on with the entry.
    @Test(.timeLimit(.minutes(1 * slowness))) func aCloseDuringASaveHidesNoEntryFromOtherCaches() throws {
        final class Closing: CacheObserver {
            let close = Mutex<(@Sendable () -> Void)?>(nil)
            func cache(_ name: String, did event: CacheEvent) {}
            func cache(_ name: String, willBegin operation: CacheOperation) -> Never? {
                if operation == .write, let close = close.withLock({ $0.take() }) { close() }
                return nil
            }
        }
        let observer = Closing()
        let cities = try Cache<City>(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(observer: observer)
        )
        let other = try Cache<City>(name: "cities", directory: directory.url)
        try other.save(city, forKey: "k")
        observer.close.withLock { close in
            close = {
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    try? Self.close(cities)
                    done.signal()
                }
                done.wait()
            }
        }
        #expect(code { try cities.save(City(name: "new", population: 1), forKey: "k") } == .closed)
        #expect(try other.fetch(forKey: "k") == city)
        #expect(cities.statistics.failures == 0)
    }

    @Test func aClosedCacheInMemoryAloneRefusesEverything() throws {
        let cities = try Cache<City>(name: "cities", settings: CacheSettings(disk: nil))
        try cities.save(city, forKey: 1)
        try cities.close()
        #expect(code { try Self.callAll(cities) } == .closed)
        #expect(cities.statistics.saves == 1 && cities.statistics.failures == 0)
    }

    /// Not even one that still loads has the locks of its keys.
    @Test func theLocksOfLoadsAreGivenBack() async throws {
        let (among, city) = (LoadOptions(joins: .processes), city)
        let cities = try cache(.through, .packed)
        let (begun, goesOn) = (Recorder<Int>(), Recorder<Int>())
        let path = directory.url.appending(path: "cities").path
        let held = try KeyLocks(directory: path)
        #expect(try held.tryLock(KeyLocks.Offset(key: "b")))
        let load = Task {
            try await cities.fetch(forKey: "a", options: among) {
                begun.add(1)
                try await wait(until: !goesOn.all.isEmpty)
                return city
            }
        }
        let waiting = Task { try await cities.fetch(forKey: "b", options: among) { city } }
        try await wait(until: !begun.all.isEmpty)
        try await wait(until: cities.core.loads.waiterCount(try EntryKey("b")) >= 1)
        try await cities.close()
        let locks = try KeyLocks(directory: path)
        #expect(try locks.tryLock(KeyLocks.Offset(key: "a")))
        // A load that waits fails with an error; a load with a running producer returns its value.
        let error = await #expect(throws: CacheError.self) { try await waiting.value }
        #expect(error?.code == .closed)
        goesOn.add(1)
        #expect(try await load.value == city)
    }

    private static func close(_ cities: Cache<City>) throws { try cities.close() }

    /// Throws the error of the synchronous calls, if all of them fail because the cache is closed.
    private static func callAll(_ cities: Cache<City>) throws {
        let calls: [() throws -> Void] = [
            { try cities.save(City(name: "x", population: 1), forKey: "k") },
            { _ = try cities.fetch(forKey: 1) },
            { _ = try cities.contains(forKey: 1) },
            { try cities.modify(forKey: 1) { $0 = nil } },
            { try cities.remove(forKey: 1) },
            { try cities.removeAll() },
            { try cities.removeAll(tagged: "t") },
            { try cities.removeExpired() },
            { try cities.trimDisk(to: .bytes(0)) },
            { try cities.removeAll { _ in true } },
            { _ = try cities.extend(forKey: 1, expiration: .never) },
            { _ = try cities.stored(forKey: 1) },
            { _ = try cities.entry(forKey: 1) },
            { _ = try cities.entries().all() },
            { _ = try cities.keys().all() },
            { _ = try cities.keys(withPrefix: "1").all() },
            { _ = try cities.count() },
            { try cities.flush() },
        ]
        for (index, call) in calls.enumerated() { #expect(code(call) == .closed, "synchronous call \(index)") }
        try cities.flush()
    }

    /// A directory may be removed right after its cache was closed: nothing comes back.
    @Test func nothingIsWrittenAfterClosing() throws {
        for round in 0..<10 {
            let cities = try cache(.behind(limit: .mebibytes(1)), round % 2 == 0 ? .packed : .files)
            for number in 0..<100 { try cities.save(city, forKey: number) }
            try cities.close()
            try FileManager.default.removeItem(at: directory.url)
            #expect(code { try cities.save(city, forKey: "k") } == .closed)
            #expect(!FileManager.default.fileExists(atPath: directory.url.path))
        }
    }

    // MARK: Forking

    /// A process that forks with an open cache loses nothing, and its children get an error that says to open their
    /// own.
    @Test(arguments: [DiskSettings.Layout.packed, .files], variants([nil, 1 << 20] as [Int?], at: 1))
    func forkedProcessesOpenTheirOwn(layout: DiskSettings.Layout, limit: Int?) throws {
        for _ in 0..<(isLongRun ? 3 : 1) {
            let behind = limit.map { ["--behind", "\($0)"] } ?? []
            try expectNoFault(["fork", "--directory", directory.url.path, "--layout", layout.rawValue] + behind)
            try FileManager.default.removeItem(at: directory.url)
        }
    }

    // MARK: Descriptors

    /// A process has many more caches than descriptors, 256 of them.
    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func manyCachesShareFewDescriptors(layout: DiskSettings.Layout) throws {
        let count = isLongRun ? 1_000 : 150
        try expectNoFault([
            "many", "--directory", directory.url.path, "--layout", layout.rawValue, "--count", "\(count)",
        ])
    }

    /// Runs a worker that ends with 0 unless it finds a fault.
    private func expectNoFault(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = try ProcessTests.executable
        process.arguments = arguments
        let output = Pipe.make()
        process.standardError = output
        try process.start()
        process.waitUntilExit()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        #expect(process.terminationStatus == 0, "\(text)")
    }
}
