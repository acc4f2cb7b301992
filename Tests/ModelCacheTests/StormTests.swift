import Dispatch
import Foundation
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

@testable import ModelCache

/// Calls at once against a server whose versions only go up: with evictions, expirations, erased folders, and kills.
///
/// The oracle knows the server and what the calls returned, and nothing of the cache: no read gives an older version than a
/// read or a confirmed change before it, and in the end everything is as on the server.
@Suite struct StormTests {
    @Test(.timeLimit(.minutes(5)), arguments: isLongRun ? seeds(0..<5_000) : seeds(0..<200))
    func callsAtOnceNeverReadBackwardsAndEndAsTheServer(seed: Int) async throws {
        let storm = try Storm(seed: seed)
        for step in 0..<60 { try await storm.step(step) }
        try await storm.end()
    }

    @Test(.timeLimit(.minutes(20)), arguments: seeds(0..<10))
    func aHundredCallsAtOnceNeverReadBackwardsAndEndAsTheServer(seed: Int) async throws {
        let storm = try Storm(seed: seed + 100_000, crowd: 100)
        for step in 0..<40 {
            repeat { try await storm.step(step) } while !storm.isCrowded
        }
        try await storm.end()
    }
}

private final class Storm: Sendable {
    private struct State {
        /// The version that a read gives at least, by identity; zero: any, or none.
        var floors: [Int: Int] = [:]
        /// The same after a kill: the versions that are on disk.
        var durable: [Int: Int] = [:]
        /// The versions that the server has refused, as the program knows.
        var refused: Set<Int> = []
        /// Items that a change is under way of, or that were deleted.
        var busy: Set<Int> = []
        var lastID = 12
    }

    private let seed: Int
    /// How many calls are under way before the server answers any that it holds.
    private let crowd: Int
    private let runningCount = Atomic(0)
    private let server: ItemServer
    private let clock = ManualClock()
    private let directory: TemporaryDirectory
    private let state = Mutex(State())
    private let generator: Mutex<SeededGenerator>
    private let models: Mutex<Models?> = Mutex(nil)
    private let tasks = Mutex<[Task<Void, Never>]>([])
    /// The folder of the account, another one after each kill.
    private let life = Mutex(0)
    private let stall = Mutex<DispatchSemaphore?>(nil)

    init(seed: Int, crowd: Int = 1) throws {
        self.seed = seed
        self.crowd = crowd
        server = ItemServer(seed: seed &+ 1_000_000, count: 12)
        directory = try TemporaryDirectory()
        generator = Mutex(SeededGenerator(seed: seed))
    }

    var isCrowded: Bool { runningCount.load(ordering: .relaxed) >= crowd }

    private func random(_ count: Int) -> Int { generator.withLock { Int.random(in: 0..<count, using: &$0) } }

    private func opened() async throws -> Models {
        if let models = models.withLock({ $0 }) { return models }
        let (place, seed) = ("\(life.withLock { $0 })", seed)
        let opened = try await Models(
            account: place,
            types: [Item.self],
            directory: directory.url,
            transport: server,
            clock: clock,
            onFailure: { if $0.code != .notFound { Issue.record("seed \(seed): \($0)") } }
        )
        models.withLock { $0 = opened }
        return opened
    }

    // MARK: Steps

    func step(_ step: Int) async throws {
        let models = try await opened()
        let id = 1 + random(state.withLock { $0.lastID })
        // A crowd gathers by calls alone, which begin at once.
        let isGathering = crowd > 1 && !isCrowded
        switch random(isGathering ? 17 : 26) {
        case 0..<4: start { try await self.fetch(models, id, at: "step \(step)") }
        case 4..<6:
            start { try await self.read("step \(step)") { try await models.fetch(NewestItems(), self.mode()) } }
        case 6..<8:
            start { try await self.read("step \(step)") { try await models.fetch(LatestItems(), self.mode()) } }
        case 8: start { try await self.read("step \(step)") { try await models.fetchMore(of: NewestItems()) } }
        case 9: start { try await self.read("step \(step)") { try await models.fetchPrevious(of: LatestItems()) } }
        case 10:
            start { try await self.read("step \(step)") { try await models.reloadAllPages(of: LatestItems()) } }
        case 11, 12: start { try await self.change(models, id) }
        case 13, 14: start { try await self.insert(models) }
        case 15: start { try await self.delete(models, id) }
        case 16: start { try await self.push(models, id) }
        case 17: clock.advance(by: .seconds(random(150)))
        case 18: models.trimMemory(toCount: random(4))
        case 19: start { try await models.invalidate(self.random(2) == 0 ? .everything : .type(Item.self)) }
        case 20: if random(3) == 0 { try await kill(models) }
        case 21: if random(6) == 0 { try await erase(models) }
        case 22: if random(2) == 0 { await stallWriter(models) } else { releaseWriter() }
        default: if isCrowded { for _ in 0...random(3) { server.releaseOne() } }
        }
        if isGathering { return }
        for _ in 0..<random(20) { await Task.yield() }
        for id in 1...3 { try await look(models, id, at: "step \(step)") }
    }

    private func mode() -> FetchMode {
        [.automatic, .reload, .staleWhileRevalidate, .automatic(waitingAtMost: .zero)][random(4)]
    }

    private func start(_ body: @escaping @Sendable () async throws -> Void) {
        runningCount.add(1, ordering: .relaxed)
        let task = Task { [seed] in
            defer { runningCount.subtract(1, ordering: .relaxed) }
            do {
                try await body()
            } catch is ItemServer.Refused {
            } catch is CancellationError {
            } catch let error as ModelCacheError where error.code == .closed || error.code == .notFound {
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        tasks.withLock { $0.append(task) }
    }

    // MARK: Reading

    /// The state before a read.
    private var before: State { state.withLock { $0 } }

    private func check(_ item: Item, since before: State, _ place: String) {
        #expect(item.words == Item.words(item.id, item.version), "seed \(seed), \(place)")
        #expect(!before.refused.contains(item.version), "seed \(seed), \(place): item \(item.id) was refused")
    }

    private func checkNotBack(_ item: Item, since before: State, _ place: String) {
        check(item, since: before, place)
        #expect(item.version >= before.floors[item.id] ?? 0, "seed \(seed), \(place): item \(item.id) went back")
    }

    private func fetch(_ models: Models, _ id: Int, at place: String) async throws {
        let before = before
        let life = life.withLock { $0 }
        let found = try await models.fetchSnapshot(Item.self, id: id, mode())
        checkNotBack(found.value, since: before, place)
        if !found.isChanging { raise(id, found.value.version, life: life) }
    }

    private func look(_ models: Models, _ id: Int, at place: String) async throws {
        let before = before
        let life = life.withLock { $0 }
        let found: ModelSnapshot<Item>?
        do throws(ModelCacheError) {
            found = try await models.stored(Item.self, id: id)
        } catch {
            if error.code == .closed { return }
            throw error
        }
        guard let found else { return }
        checkNotBack(found.value, since: before, place)
        if !found.isChanging { raise(id, found.value.version, life: life) }
    }

    private func read<List: ModelList>(
        _ place: String,
        _ read: () async throws -> ListSnapshot<List>
    ) async throws where List.Element == Item {
        let before = before
        let list = try await read()
        #expect(Set(list.elements.map(\.id)).count == list.elements.count, "seed \(seed), \(place): twice")
        for item in list.elements { check(item, since: before, place) }
    }

    /// - Parameter life: the one in which that was read.
    private func raise(_ id: Int, _ version: Int, life: Int, isDurable: Bool = false) {
        guard self.life.withLock({ $0 }) == life else { return }
        state.withLock { state in
            state.floors[id] = max(state.floors[id] ?? 0, version)
            if isDurable { state.durable[id] = max(state.durable[id] ?? 0, version) }
        }
    }

    // MARK: Changing

    /// Has an item for one change alone: the order of two is the server's.
    private func alone(_ id: Int, _ body: () async throws -> Void) async throws {
        guard server.versions[id] != nil, state.withLock({ $0.busy.insert(id).inserted }) else { return }
        defer { _ = state.withLock { $0.busy.remove(id) } }
        try await body()
    }

    private func noting(_ version: Int, _ change: () async throws -> Void) async throws {
        do {
            try await change()
        } catch let refusal as ItemServer.Refused {
            _ = state.withLock { $0.refused.insert(version) }
            throw refusal
        }
    }

    private func change(_ models: Models, _ id: Int) async throws {
        let (isRefused, life) = (random(4) == 0, life.withLock { $0 })
        try await alone(id) {
            let version = server.nextVersion()
            try await noting(version) {
                try await models.change {
                    $0.update(Item.self, id: id) { $0 = Item(id, version) }
                } sending: { [server] in
                    try await server.take(isRefused: isRefused) { server.put(id, version) }
                }
            }
            raise(id, version, life: life, isDurable: true)
        }
    }

    private func insert(_ models: Models) async throws {
        let (isRefused, life) = (random(4) == 0, life.withLock { $0 })
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let item = Item(id, server.nextVersion())
        _ = state.withLock { $0.busy.insert(id) }
        defer { _ = state.withLock { $0.busy.remove(id) } }
        try await noting(item.version) {
            try await models.change {
                $0.insert(item, into: NewestItems(), at: .start)
                $0.insert(id: id, into: LatestItems(), at: .end)
            } sending: { [server] in
                try await server.take(isRefused: isRefused) { server.put(id, item.version) }
            }
        }
        raise(id, item.version, life: life, isDurable: true)
    }

    private func delete(_ models: Models, _ id: Int) async throws {
        guard id > 3, server.versions[id] != nil, state.withLock({ $0.busy.insert(id).inserted }) else { return }
        let isRefused = random(4) == 0
        try await models.change {
            $0.removeEverywhere(Item.self, id: id)
        } sending: { [server] in
            try await server.take(isRefused: isRefused) { server.delete(id) }
        }
    }

    private func push(_ models: Models, _ id: Int) async throws {
        let life = life.withLock { $0 }
        try await alone(id) {
            let version = server.nextVersion()
            server.put(id, version)
            try await models.save(Item(id, version))
            raise(id, version, life: life, isDurable: true)
        }
    }

    // MARK: Ending

    /// Has nothing written from now on, until it is released.
    private func stallWriter(_ models: Models) async {
        if stall.withLock({ $0 != nil }) { return }
        let semaphore = DispatchSemaphore(value: 0)
        await withCheckedContinuation { continuation in
            models.engine.tables.account.writer.add(0) {
                continuation.resume()
                semaphore.wait()
            }
        }
        stall.withLock { $0 = semaphore }
    }

    private func releaseWriter() { stall.withLock { $0.take() }?.signal() }

    /// The folder as a kill leaves it: without entries that wait to be written. Entries that a call has waited for are there.
    private func kill(_ models: Models) async throws {
        await stallWriter(models)
        let (former, durable) = (life.withLock { $0 }, state.withLock { $0.durable })
        try copy("\(former)", to: "\(former + 1)")
        state.withLock { $0.floors = durable }
        life.withLock { $0 += 1 }
        self.models.withLock { $0 = nil }
        releaseWriter()
        try await models.close()
    }

    /// Copies a folder between two changes: a store makes room on a thread of its own.
    private func copy(_ name: String, to new: String) throws {
        let (source, target) = (directory.url.appending(path: name), directory.url.appending(path: new))
        while true {
            let before = try contents(of: source)
            do {
                try FileManager.default.copyItem(at: source, to: target)
                if try contents(of: source) == before { return }
            } catch CocoaError.fileNoSuchFile {}
            try FileManager.default.removeItem(at: target)
        }
    }

    private func contents(of folder: URL) throws -> [String: Int] {
        var sizes: [String: Int] = [:]
        let keys: [URLResourceKey] = [.fileSizeKey]
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: keys)
        while let file = files?.nextObject() as? URL {
            let size = try? file.resourceValues(forKeys: Set(keys)).fileSize
            sizes[file.path(percentEncoded: false)] = size ?? 0
        }
        return sizes
    }

    /// The account is gone, by a call or by the system that needs its room.
    private func erase(_ models: Models) async throws {
        releaseWriter()
        if random(2) == 0 {
            try await models.erase()
        } else {
            try await models.close()
            try FileManager.default.removeItem(at: directory.url.appending(path: "\(life.withLock { $0 })"))
        }
        self.models.withLock { $0 = nil }
    }

    func end() async throws {
        releaseWriter()
        server.releaseAll(isOpen: true)
        for task in tasks.withLock({ $0 }) { await task.value }
        let models = try await opened()
        await models.settle()
        try await models.invalidate(.everything)
        // A change that a kill cut off may have reached the server: no first page tells of a removal after it.
        var newest = try await models.reloadAllPages(of: NewestItems())
        while newest.hasMore { newest = try await models.fetchMore(of: NewestItems()) }
        check(newest, server.order)
        var latest = try await models.reloadAllPages(of: LatestItems())
        while latest.hasPrevious { latest = try await models.fetchPrevious(of: LatestItems()) }
        check(latest, server.order.reversed())
        let versions = server.versions
        for id in versions.keys.sorted() {
            let item = try await models.fetch(Item.self, id: id, .reload)
            #expect(item.version == versions[id], "seed \(seed): item \(id)")
        }
        try await models.close()
    }

    /// Whether a list has all items in the server's order, but for those that were evicted.
    private func check<List: ModelList>(_ list: ListSnapshot<List>, _ order: [Int]) where List.Element == Item {
        let holes = Set(list.holes)
        #expect(list.elements.map(\.id) == order.filter { !holes.contains($0) }, "seed \(seed)")
        #expect(holes.isSubset(of: order), "seed \(seed)")
    }
}
