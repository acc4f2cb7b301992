import ArchiveStore
import RedisWire
import Synchronization

/// The lease of a key that a load of this process has, extended while the load goes on.
final class SharedLease: LoadLease {
    private let term: LeaseTerm
    private let store: SharedStore
    /// That of the keeper; `nil` for a lease that has ended.
    private let number: Mutex<Int?>

    /// - Parameter number: the keeper's; `nil` once the tier is closed.
    init(_ term: LeaseTerm, _ store: SharedStore, number: Int?) {
        self.term = term
        self.store = store
        self.number = Mutex(number)
    }

    deinit { if let number = number.withLock({ $0 }) { _ = store.keeper.end(number) } }

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
        let former = number.withLock { number in
            defer { number = nil }
            return number
        }
        guard let former else { return false }
        _ = store.keeper.end(former)
        return true
    }
}
