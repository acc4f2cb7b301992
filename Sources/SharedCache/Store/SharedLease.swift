import ArchiveStore
import RedisWire
import Synchronization

/// The lease of a key that a load of this process has, extended while the load goes on.
final class SharedLease: LoadLease {
    private let term: LeaseTerm
    private let store: SharedStore
    private let keeper: Mutex<Task<Void, Never>?>

    init(_ term: LeaseTerm, _ store: SharedStore) {
        self.term = term
        self.store = store
        let engine = store.engine
        let pause = store.leaseDuration / 3
        keeper = Mutex(
            Task.detached(priority: .utility) {
                while true {
                    do {
                        try await Task.sleep(for: pause)
                        let value = try await engine.request([term.extending], action: "extending a lease")[0]
                        if value.integer == 0 { return }
                    } catch is StoreError {
                        // Tried again; if that comes too late, the value is not saved.
                    } catch {
                        return
                    }
                }
            }
        )
    }

    deinit { keeper.withLock { $0 }?.cancel() }

    var key: String { term.key.string }
    var foundEntry: Bool { term.foundEntry }

    func save(
        _ archive: [UInt8],
        attributes: EntryAttributes,
        if condition: () -> Bool
    ) throws(StoreError) -> EntryInformation? {
        let new = try store.newEntry(archive, forKey: key, attributes)
        let saved = try store.save(new, under: term, if: condition)
        if saved != nil { end() }
        return saved
    }

    func giveBack() async {
        if end() { await store.release([term]) }
    }

    /// Whether the lease had not ended before.
    @discardableResult
    private func end() -> Bool {
        let former = keeper.withLock { keeper in
            defer { keeper = nil }
            return keeper
        }
        former?.cancel()
        return former != nil
    }
}
