import RedisWire
import Synchronization
import Testing

@testable import ArchiveStore
@testable import SharedCache

/// A process's view of an engine, without one.
@Suite struct EngineViewTests {
    private let names = EntryNames(prefix: "tc:test:", cache: "cache", schema: 1)

    /// Two calls look for the generation, and the first one's answer is late: messages about entries of the second one's
    /// are not understood any longer, so memory must have none.
    @Test func aLateAnswerAboutTheGenerationLeavesNothingNear() throws {
        let view = SharedView(EngineView(names, window: .seconds(60)))
        func answers(_ generation: Generation) -> [RedisValue] {
            [.null, .bulk(Array(generation.description.utf8))]
        }
        func isEverythingChanged() -> Bool {
            if case .everything = view.withView({ $0.near.take(at: .now) }) { true } else { false }
        }
        view.withView { _ = $0.hear(.verified(since: .now)) { KeyDigest(hashing: $0) } }
        var (first, second) = (FindGeneration(action: ""), FindGeneration(action: ""))
        let (former, current) = (Generation.random(), Generation.random())
        _ = try first.next([], view)
        _ = try second.next([], view)
        _ = try second.next(answers(current), view)
        // Entries of this generation are read from here on.
        _ = view.withView { $0.near.take(at: .now) }
        #expect(!isEverythingChanged())
        _ = try first.next(answers(former), view)
        #expect(isEverythingChanged())
    }

    /// A client that can leave scripts unanswered.
    private final class SilentClient: RedisClient {
        let isSilent = Mutex(false)
        let items = Mutex<[String: [UInt8]]>([:])

        func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] { try sendAndWait(commands) }

        func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
            if isSilent.withLock({ $0 }), commands.contains(where: { $0.name == "EVAL" }) {
                throw RedisError(.timeout, mayHaveRun: true, "no answer")
            }
            return items.withLock { items in commands.map { Self.answer($0, &items) } }
        }

        private static func answer(_ command: RedisCommand, _ items: inout [String: [UInt8]]) -> RedisValue {
            guard command.arguments.count > 1, case .text(let name) = command.arguments[1] else { return .null }
            switch (command.name, command.arguments.last) {
            case ("SET", .bytes(let bytes)): items[name] = bytes
            // With further words, an entry or the first generation.
            case ("SET", _):
                if items[name] == nil, case .text(let text) = command.arguments[2] {
                    items[name] = Array(text.utf8)
                }
            case ("GET", _): return items[name].map { .bulk($0) } ?? .null
            case ("GETRANGE", _): return .bulk(items[name] ?? [])
            case ("STRLEN", _): return .integer(Int64(items[name]?.count ?? 0))
            default: break
            }
            return .simple("OK")
        }
    }

    /// A removal of the very entry that was read, as by `modify`, fails: the entry is not read again.
    @Test func aFailedRemovalOfAnEntryIsOwed() throws {
        let client = SilentClient()
        let store = SharedStore(client, prefix: "tc:test:", cache: "cache", schema: 1)
        let saved = try store.save([1, 2, 3], forKey: "key", attributes: EntryAttributes(storedAt: .now), if: nil)
        let entry = try #require(saved)
        #expect(try store.fetch(forKey: "key")?.archive == [1, 2, 3])
        client.isSilent.withLock { $0 = true }
        #expect(throws: StoreError.self) { try store.remove(entry) }
        #expect(try store.fetch(forKey: "key") == nil && !store.isSettled)
    }

    /// The near disk forgets the former copy before memory can see the change: memory would read that copy again, and
    /// keep it.
    @Test func theNearDiskHearsOfAChangeBeforeMemoryDoes() throws {
        let client = SilentClient()
        let store = SharedStore(client, prefix: "tc:test:", cache: "cache", schema: 1)
        _ = try store.save([1, 2, 3], forKey: "key", attributes: EntryAttributes(storedAt: .now), if: nil)
        store.take(.verified(since: .now))
        let mark = try #require(store.changeMark)
        let name = try #require(client.items.withLock { items in items.keys.first { $0.contains("key") } })
        let seen = Mutex<[UInt64?]>([])
        store.setListener { [weak store] heard in
            #expect(heard.changed == ["key"])
            seen.withLock { $0.append(store?.changeMark) }
        }
        store.take(.changed([Array(name.utf8)]))
        #expect(seen.withLock(\.self) == [mark])
        #expect(store.changeMark != mark)
    }
}
