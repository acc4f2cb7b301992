import ModelCache
import ModelCacheTesting
import Synchronization
import TestSupport
import Testing
import TypedCache
import TypedCacheTesting

/// The part of a model that counts how many of it there are.
private final class Counted: Codable, Equatable, Sendable {
    static let living = Atomic(0)
    let version: Int

    init(_ version: Int) {
        self.version = version
        Self.living.add(1, ordering: .relaxed)
    }

    convenience init(from decoder: any Decoder) throws { self.init(try Int(from: decoder)) }

    deinit { Self.living.subtract(1, ordering: .relaxed) }

    func encode(to encoder: any Encoder) throws { try version.encode(to: encoder) }
    static func == (left: Counted, right: Counted) -> Bool { left.version == right.version }
}

private struct Record: CachedModel {
    static let modelName = "record"
    static let policy = ModelPolicy(memory: MemorySettings(countLimit: MemoryLimitTests.limit))
    let id: Int
    var part: Counted

    static func request(for id: Int) -> ModelRequest { .get("/records/\(id)") }
}

private struct Records: ModelList {
    typealias Element = Record
    static let length = MemoryLimitTests.limit / 4
    var first: Int
    var ids: Range<Int> { first..<first + Self.length }

    var listKey: String { "records/\(first)" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/records", query: ["first": "\(first)"]) }

    func answer(to server: StubTransport, version: Int) {
        let items = ids.map { "{\"id\": \($0), \"part\": \(version)}" }
        server.answer("/records?first=\(first)", .json("[\(items.joined(separator: ","))]"))
    }
}

/// The models that observers have seen, which it does not retain.
private final class Seen: Sendable {
    private struct Reference { weak var part: Counted? }

    private let references = Mutex<[Reference]>([])

    var count: Int { references.withLock(\.count) }
    var isLiving: Bool { references.withLock { $0.contains { $0.part != nil } } }

    func add(_ records: some Sequence<Record>) {
        let parts = records.map(\.part)
        references.withLock { references in references += parts.map { Reference(part: $0) } }
    }
}

/// How many loops over observers have ended.
private final class Ended: Sendable {
    let count = Atomic(0)
}

/// 10,000 models at a limit of 2,000 in memory; a fifth of both in the short run. One test, for the count is of the
/// process.
@Suite struct MemoryLimitTests {
    static let limit = isLongRun ? 2_000 : 400
    private static let count = 5 * limit
    private static let lists = stride(from: 0, to: count, by: Records.length).map { Records(first: $0) }

    private var living: Int { Counted.living.load(ordering: .relaxed) }

    /// Waits until a condition holds, and expects it: the tasks of a call that has returned are released soon after.
    private func expect(_ comment: String, _ condition: () -> Bool) async {
        try? await wait(until: condition())
        #expect(condition(), "\(comment): \(living) models")
    }

    @Test(.timeLimit(.minutes(10 * slowness)))
    func theLimitIsKeptAndObserversThatEndedRetainNothing() async throws {
        let directory = try TemporaryDirectory()
        let server = StubTransport()
        for list in Self.lists { list.answer(to: server, version: 1) }
        do {
            let models = try await Models(
                account: "42",
                types: [Record.self],
                directory: directory.url,
                transport: server
            )
            try await fill(models)
            try await observe(models, server)
            // Every model is there all the same.
            #expect(try await models.stored(Record.self, ids: 0..<Self.count).count == Self.count)
            await models.flush()
            await expect("after all were read") { living <= Self.limit }
            try await models.close()
        }
        await expect("without the cache") { living == 0 }
    }

    /// Merges all lists, in memory and on disk.
    private func fill(_ models: Models) async throws {
        for list in Self.lists {
            #expect(try await models.fetch(list).elements.count == Records.length)
            await models.flush()
            await expect("after list \(list.first)") { living <= Self.limit }
        }
        #expect(living > Self.limit / 2, "memory is used")
    }

    /// Observers of all kinds see the first version of all models, and end.
    private func observe(_ models: Models, _ server: StubTransport) async throws {
        let seen = Seen()
        let looping = Self.lists.map { list in
            Task {
                for await snapshot in models.updates(of: list) { seen.add(snapshot?.elements ?? []) }
            }
        }
        // These are still referred to when they have ended.
        let ended = Ended()
        let isOver = Gate()
        let kept = Self.lists.map { list in
            Task {
                let updates = models.updates(of: Record.self, ids: Array(list.ids))
                let iterator = updates.makeAsyncIterator()
                while let records = await iterator.next(isolation: nil) { seen.add(records.values.map(\.value)) }
                ended.count.add(1, ordering: .relaxed)
                await isOver.pass()
                withExtendedLifetime(iterator) {}
            }
        }
        let live = await models.live(Self.lists[0])
        try await wait(until: await !live.elements.isEmpty)
        try await wait(until: seen.count >= 2 * Self.count)
        #expect(living >= Self.count, "observers hold the latest snapshot, which memory alone does not")

        for task in looping + kept { task.cancel() }
        for task in looping { await task.value }
        try await wait(until: ended.count.load(ordering: .relaxed) >= kept.count)
        for list in Self.lists {
            list.answer(to: server, version: 2)
            _ = try await models.fetch(list, .reload)
        }
        try await wait(until: await live.elements.first?.part.version == 2)
        await models.flush()
        await expect("of the first version") { !seen.isLiving }
        await expect("with the snapshot of the live list alone") { living <= Self.limit + Records.length }
        isOver.open()
        for task in kept { await task.value }
    }
}
