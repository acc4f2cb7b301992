import ArchiveStore
import Foundation
import RedisWire
import Synchronization

/// A key of the engine that one load has, while it is there: it expires by itself, removals and saves delete it.
final class SharedLease: LoadLease {
    private struct State {
        /// The last bytes of the entry that the engine had when the lease was taken.
        var seen: [UInt8] = []
        var tagRemovals: [UInt8]?
        var keeper: Task<Void, Never>?
    }

    let key: String
    let generation: Generation
    private let token = String(UInt64.random(in: 0 ... .max), radix: 16)
    private let store: SharedStore
    private let script: EntryScript
    private let milliseconds: Int
    private let state = Mutex(State())

    init(of key: StoreKey, _ store: SharedStore, _ generation: Generation) {
        self.key = key.string
        self.store = store
        self.generation = generation
        script = EntryScript(name: store.names.entry(key.string, generation))
        milliseconds = max(Int(store.leaseDuration / .milliseconds(1)), 1)
    }

    deinit { state.withLock { $0.keeper }?.cancel() }

    /// The commands that take the lease, if no other load has it, and then look at the entry.
    var taking: [RedisCommand] {
        let name = RedisCommand.Argument.text(EntryNames.lease(ofEntry: script.name))
        return [
            ["SET", name, .text(token), "NX", "PX", .integer(milliseconds)],
            ["GETRANGE", .text(script.name), .integer(-EntryEnd.byteCount), -1],
        ]
    }

    var foundEntry: Bool { state.withLock { !$0.seen.isEmpty } }

    /// The lease is this load's.
    ///
    /// - Parameters:
    ///   - entry: the last bytes of the entry that is there.
    ///   - tagRemovals: the value that removals by tag change.
    func begin(found entry: RedisValue, tagRemovals: [UInt8]?) {
        let (engine, script, token, milliseconds) = (store.engine, script, token, milliseconds)
        let pause = store.leaseDuration / 3
        let keeper = Task.detached(priority: .utility) {
            while true {
                do {
                    try await Task.sleep(for: pause)
                    let command = script.extendLease(token, to: milliseconds)
                    let value = try await engine.request([command], action: "extending a lease")[0]
                    if value.integer == 0 { return }
                } catch is StoreError {
                    // Tried again; if that comes too late, the value is not saved.
                } catch {
                    return
                }
            }
        }
        state.withLock { state in
            state.seen = entry.bytes ?? []
            state.tagRemovals = tagRemovals
            state.keeper = keeper
        }
    }

    var tagRemovals: [UInt8]? { state.withLock { $0.tagRemovals } }

    /// The command that saves the loaded value and ends the lease.
    func saving(_ new: SharedStore.NewEntry) -> RedisCommand {
        let seen = state.withLock { $0.seen }
        return script.save(new.bytes, lease: token, replacing: seen, new.lifetime)
    }

    func save(
        _ archive: [UInt8],
        attributes: EntryAttributes,
        if condition: () -> Bool
    ) throws(StoreError) -> EntryInformation? {
        let new = try SharedStore.NewEntry(archive, of: try StoreKey(key), attributes, offset: store.offset)
        let saved = try store.save(new, under: self, if: condition)
        if saved != nil { end() }
        return saved
    }

    func giveBack() async {
        if end() { await release() }
    }

    /// Ends the lease in the engine.
    func release() async {
        do throws(StoreError) {
            _ = try await store.engine.request([script.endLease(token)], action: "giving a lease back")
        } catch {
            // It ends by itself before long.
        }
    }

    /// Whether the lease had not ended before.
    @discardableResult
    private func end() -> Bool {
        let keeper = state.withLock { state in
            defer { state.keeper = nil }
            return state.keeper
        }
        keeper?.cancel()
        return keeper != nil
    }
}
