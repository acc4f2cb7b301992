/// The user of a packed store: asked which entries are in use, and told which ones are gone, under no lock.
final class PackedStoreUser: Sendable {
    private let reference = RankedMutex(StoreUserReference(), rank: PackedLocks.user)

    /// `nil` if the store has no user, or no longer.
    var current: (any StoreUser)? {
        LockOrder.expectNone(from: PackedLocks.opened)
        return reference.withLock { $0.user }
    }

    func set(_ user: any StoreUser) {
        let new = StoreUserReference(user)
        reference.withLock { $0 = new }
    }

    func tell(_ evictions: Evictions) {
        guard !evictions.isEmpty, let user = current else { return }
        evictions.expired.forEach(user.didExpire)
        evictions.evicted.forEach(user.didEvict)
    }

    func tellExpired(_ entry: EntryInformation) { current?.didExpire(entry) }

    func tellLossOfEntries() { current?.didLoseEntries() }
}
