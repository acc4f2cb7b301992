import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore
@testable import CacheWorker
@testable import TypedCache

/// Statistics that a cache publishes, as another process finds them.
@Suite struct PublishingTests {
    private let directory = TestDirectory()

    private var place: URL { directory.url.appending(path: "cities", directoryHint: .isDirectory) }
    private var live: URL { place.appending(path: ".live") }

    init() throws { try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true) }

    private func cities(
        layout: DiskSettings.Layout = .automatic,
        publishes: Bool = true,
        observer: (any CacheObserver)? = nil
    ) throws -> Cache<City> {
        let disk = DiskSettings(layout: layout, byteLimit: .mebibytes(1), publishesStatistics: publishes)
        return try Cache(
            name: "cities",
            directory: directory.url,
            settings: CacheSettings(disk: disk, observer: observer)
        )
    }

    private func published() throws -> [PublishedCache] {
        let (caches, faults) = try PublishedCache.all(in: place)
        #expect(faults.isEmpty)
        return caches
    }

    private func files() -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: live.path)) ?? [] }

    private static let alvand = City(name: "Alvand", population: 90_000)

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func othersSeeWhatTheCacheCounts(layout: DiskSettings.Layout) async throws {
        let cities = try cities(layout: layout)
        try await cities.save(Self.alvand, forKey: "a")
        _ = try await cities.fetch(forKey: "a")
        _ = try await cities.fetch(forKey: "b")
        _ = try await cities.fetch(forKey: "c") {
            try await Task.sleep(for: .milliseconds(20))
            return Self.alvand
        }
        cities.core.publishStatistics()
        let one = try #require(try published().first)
        #expect(one.isLive && one.openCount == 1)
        #expect(one.statistics.processIdentifier == Int(ProcessInfo.processInfo.processIdentifier))
        var expected = cities.core.figures
        let time = expected.statistics.loadTime / .microseconds(1)
        expected.statistics.loadTime = .microseconds(Int64(time))
        #expect(one.statistics.figures == expected)
        let figures = one.statistics.figures
        #expect(
            figures.statistics.memoryHits == 1 && figures.statistics.misses == 2 && figures.statistics.saves == 2
        )
        #expect(figures.statistics.loadTime >= .milliseconds(20))
        #expect(figures.memory.entryCount == 2 && figures.memory.byteLimit == 64 << 20)
        #expect(figures.disk.byteLimit == 1 << 20 && figures.disk.byteCount ?? 0 > 0)
    }

    @Test func nothingIsPublishedWithoutBeingAskedFor() throws {
        let cities = try cities(publishes: false)
        try cities.save(Self.alvand, forKey: "a")
        cities.core.publishStatistics()
        #expect(try published().isEmpty && !FileManager.default.fileExists(atPath: live.path))
    }

    @Test func theTimerPublishes() async throws {
        let cities = try cities()
        try await wait(until: published().count == 1)
        withExtendedLifetime(cities) {}
    }

    @Test func closingAndDroppingTakeTheFileBack() throws {
        let first = try cities()
        first.core.publishStatistics()
        var second: Cache<City>? = try cities()
        second?.core.publishStatistics()
        #expect(try published().first?.openCount == 2)
        try first.close()
        #expect(try published().first?.openCount == 1)
        // A publication that was about to begin.
        first.core.publishStatistics()
        second = nil
        #expect(try published().isEmpty && files().isEmpty, "\(files())")
    }

    @Test func cachesOfOneProcessAreOne() throws {
        let caches = try (0..<3).map { _ in try cities() }
        try caches[0].save(Self.alvand, forKey: "a")
        for cities in caches {
            _ = try cities.fetch(forKey: "a")
            cities.core.publishStatistics()
        }
        let all = try published()
        #expect(all.count == 1 && all.first?.openCount == 3)
        #expect(all.first?.statistics.figures.statistics.hits == 3)
        #expect(all.first?.statistics.figures.memory.byteLimit == 3 * 64 << 20)
        #expect(all.first?.statistics.figures.disk.byteLimit == 1 << 20)
    }

    @Test func aFileIsWrittenOnChangesAndAsASignOfLife() throws {
        let publisher: StatisticsPublisher
        do { _ = try cities(publishes: false) }
        publisher = try StatisticsPublisher(directory: place.path, program: CacheDirectory.programName)
        func written() throws -> Date? { try published().first?.statistics.publishedAt }
        var figures = CacheFigures()
        let start = ContinuousClock.now
        try publisher.publish(figures, at: start)
        let first = try #require(try written())
        try publisher.publish(figures, at: start + .seconds(9))
        #expect(try written() == first)
        try publisher.publish(figures, at: start + .seconds(10))
        let second = try #require(try written())
        #expect(second > first)
        figures.statistics.memoryHits = 1
        try publisher.publish(figures, at: start + .seconds(10))
        #expect(try written() ?? .distantPast > second)
        #expect(files().count == 2)
    }

    // MARK: Processes

    private func child(_ writer: Int) throws -> ChildWorker {
        var settings = WorkerSettings(
            directory: directory.url.path,
            name: "cities",
            log: directory.url.appending(path: "\(writer).log").path,
            writer: writer,
            keys: ["a"]
        )
        settings.publishes = true
        let child = try ChildWorker(executable: ProcessTests.executable, settings)
        try child.waitUntilOpened()
        return child
    }

    @Test func processesAreToldApartAndADeadOneIsNoticed() throws {
        let children = try (1...2).map { try child($0) }
        #expect(try children[0].perform(.save("a")) == .done)
        var both: [PublishedCache] = []
        func isSaveThere() throws -> Bool {
            both = try published()
            return both.count == 2 && both.contains { $0.statistics.figures.statistics.saves == 1 }
        }
        try wait(until: isSaveThere())
        #expect(both.allSatisfy { $0.isLive })
        #expect(Set(both.map(\.statistics.processIdentifier)).count == 2)
        #expect(both.map(\.statistics.figures.statistics.saves).sorted() == [0, 1])
        #expect(both.allSatisfy { $0.statistics.program == "CacheWorker" })

        _ = children[0].killed()
        let later = try published()
        #expect(later.map(\.isLive).sorted { $0 && !$1 } == [true, false])
        // Two readers at once do not take each other's look for the process's lock.
        let (found, place) = (Recorder<Int>(), self.place)
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<50 {
                found.add((try? PublishedCache.all(in: place).caches.count(where: \.isLive)) ?? -1)
            }
        }
        #expect(found.all.allSatisfy { $0 == 1 })

        // The next one that publishes tidies up.
        let cities = try cities()
        cities.core.publishStatistics()
        #expect(try published().count == 2 && published().allSatisfy(\.isLive))
        try children[1].end()
        #expect(try published().count == 1)
    }

    // MARK: The directory

    @Test(arguments: [DiskSettings.Layout.packed, .files])
    func theStoreDoesNotStumble(layout: DiskSettings.Layout) throws {
        let cities = try cities(layout: layout)
        for number in 0..<50 { try cities.save(Self.alvand, forKey: "\(number)") }
        cities.core.publishStatistics()
        #expect(try cities.keys().all().count == 50)
        try cities.removeAll()
        #expect(try cities.keys().all().isEmpty)
        #expect(try published().count == 1)
        let inspector = try CacheInspector(name: "cities", root: directory.url, program: "x", create: false)
        #expect(try inspector.removeDamagedEntries() == 0)
        _ = try inspector.compact()
        #expect(try published().count == 1)
        #expect(StoreKind(directory: place.path) != nil)
    }

    @Test func publishingDoesNotCountAsAChangeOfTheCache() throws {
        let cities = try cities()
        try cities.save(Self.alvand, forKey: "a")
        cities.core.publishStatistics()
        let inspector = try CacheInspector(name: "cities", root: directory.url, program: "x", create: false)
        let before = try #require(inspector.lastChange())
        try FileManager.default.setAttributes([.modificationDate: Date.now + 1_000], ofItemAtPath: live.path)
        #expect(inspector.lastChange() == before)
    }

    @Test func anErasedDirectoryStaysErasedAndANewOneIsPublishedIn() throws {
        let observer = EventObserver()
        let cities = try cities(observer: observer)
        try cities.save(Self.alvand, forKey: "a")
        cities.core.publishStatistics()
        try removeDirectory(place.path)
        try cities.core.publisher?.publish(CacheFigures())
        #expect(!FileManager.default.fileExists(atPath: place.path))
        #expect(try published().isEmpty)
        try cities.save(Self.alvand, forKey: "b")
        cities.core.publishStatistics()
        #expect(try published().count == 1)
        // And if only the folder was deleted.
        try removeDirectory(live.path)
        try cities.save(Self.alvand, forKey: "c")
        cities.core.publishStatistics()
        #expect(try published().count == 1)
        #expect(!observer.events.all.contains { $0.kind == .failed })
    }

    @Test func leftoversAreRemovedWhenACacheIsCompacted() throws {
        do { _ = try cities(publishes: false) }
        try FileManager.default.createDirectory(at: live, withIntermediateDirectories: true)
        for name in ["0123456789abcdef.stats", "0123456789abcdef.lock", "0123456789abcdef.7"] {
            try Data([1]).write(to: live.appending(path: name))
        }
        let inspector = try CacheInspector(name: "cities", root: directory.url, program: "x", create: false)
        _ = try inspector.compact()
        #expect(files().isEmpty)
    }

    // MARK: Failures

    @Test func aFailureIsToldOnceAndDisturbsNothing() throws {
        let observer = EventObserver()
        let cities = try cities(observer: observer)
        // Where the folder should be.
        try Data().write(to: live)
        for number in 0..<5 {
            try cities.save(Self.alvand, forKey: "\(number)")
            cities.core.publishStatistics()
        }
        let failures = observer.events.all.filter { $0.kind == .failed }
        #expect(failures.count == 1 && cities.statistics.failures == 1)
        #expect((failures.first?.cause as? CacheError)?.path?.contains(".live") == true)
        #expect(try cities.keys().all().count == 5)
        try FileManager.default.removeItem(at: live)
        try cities.save(Self.alvand, forKey: "x")
        cities.core.publishStatistics()
        #expect(try published().count == 1)
    }

    @Test func aFullVolumeLeavesTheFormerFile() throws {
        do { _ = try cities(publishes: false) }
        let isFull = Mutex(false)
        let layer = FileLayer { call in
            call.operation == .write && isFull.withLock { $0 } ? .fail(ENOSPC) : .proceed
        }
        let file = try PublishedFile(directory: place.path, layer: layer)
        try file.replace(with: [1, 2, 3])
        isFull.withLock { $0 = true }
        #expect { try file.replace(with: [4]) } throws: { ($0 as? StoreError)?.errorNumber == ENOSPC }
        #expect(try PublishedFile.all(inDirectory: place.path, byteLimit: 10).map(\.bytes) == [[1, 2, 3]])
        #expect(files().count == 2, "a draft was left: \(files())")
        isFull.withLock { $0 = false }
        try file.replace(with: [5])
        #expect(try PublishedFile.all(inDirectory: place.path, byteLimit: 10).map(\.bytes) == [[5]])
        file.close()
        #expect(files().isEmpty)
        #expect { try file.replace(with: [6]) } throws: { ($0 as? StoreError)?.code == .closed }
    }

    @Test func hostileFilesAreLeftOut() throws {
        do { _ = try cities(publishes: false) }
        let manager = FileManager.default
        try manager.createDirectory(at: live, withIntermediateDirectories: true)
        func name(_ number: Int, _ ending: String) -> String {
            let digits = String(number, radix: 16)
            return live.appending(path: String(repeating: "0", count: 16 - digits.count) + digits + "." + ending)
                .path
        }
        let secret = directory.url.appending(path: "secret")
        try Data("secret".utf8).write(to: secret)
        try manager.createSymbolicLink(atPath: name(1, "stats"), withDestinationPath: secret.path)
        mkfifo(name(2, "stats"), 0o600)
        try manager.createDirectory(atPath: name(3, "stats"), withIntermediateDirectories: false)
        try Data(repeating: 7, count: 1 << 20).write(to: URL(fileURLWithPath: name(4, "stats")))
        try Data("x".utf8).write(to: live.appending(path: "neither.stats"))
        // Its lock would have this wait, or follow a link.
        try Data("y".utf8).write(to: URL(fileURLWithPath: name(5, "stats")))
        mkfifo(name(5, "lock"), 0o600)
        try Data("z".utf8).write(to: URL(fileURLWithPath: name(6, "stats")))
        try manager.createSymbolicLink(atPath: name(6, "lock"), withDestinationPath: secret.path)
        let found = try PublishedFile.all(inDirectory: place.path, byteLimit: 100)
        #expect(found.map(\.bytes.count).sorted() == [1, 1, 101])
        #expect(found.allSatisfy { !$0.isLive })
        #expect(try PublishedCache.all(in: place).faults.count == 3)
        try manager.removeItem(at: live)
        try manager.createSymbolicLink(atPath: live.path, withDestinationPath: directory.url.path)
        #expect(try PublishedCache.all(in: place).faults.isEmpty)
    }

    @Test func noMoreThanSoManyFilesAreRead() throws {
        do { _ = try cities(publishes: false) }
        try FileManager.default.createDirectory(at: live, withIntermediateDirectories: true)
        for number in 0..<300 {
            let digits = String(0xF000 + number, radix: 16)
            try Data([1]).write(to: live.appending(path: "000000000000\(digits).stats"))
        }
        #expect(try PublishedFile.all(inDirectory: place.path, byteLimit: 10).count == 256)
    }
}
