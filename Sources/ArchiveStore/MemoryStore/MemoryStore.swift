import Eviction
import Foundation
import Synchronization

/// Archives in memory alone, within limits: for caches without a disk.
///
/// Nothing here does I/O, and nothing outlives the store. Archives are kept as they are, uncompressed.
package final class MemoryStore: ArchiveStore {
    package var asMemory: MemoryStore? { self }

    private struct State {
        var entries: [[UInt8]: HeldArchive] = [:]
        var policy: ShortestReuse
        var saves: UInt64 = 0

        mutating func nextIdentity(_ attributes: EntryAttributes) -> EntryIdentity {
            saves += 1
            return EntryIdentity(attributes) ?? EntryIdentity(volume: 0, file: saves, checksum: 0)
        }

        mutating func remove(_ key: StoreKey) -> HeldArchive? {
            guard let held = entries.removeValue(forKey: key.bytes) else { return nil }
            policy.remove(held)
            return held
        }

        /// Takes victims of the policy out of the table.
        mutating func drop(_ victims: [EvictionEntry]) -> [HeldArchive] {
            let held = victims.compactMap { $0 as? HeldArchive }
            for victim in held { entries[victim.key.bytes] = nil }
            return held
        }
    }

    private let byteLimit: Int
    private let countLimit: Int
    // Guards the policy and the contents of its entries. Users are asked for uses under it, and must not call the store
    // then.
    private let state: Mutex<State>
    private let user = Mutex(StoreUserReference())

    /// - Parameters:
    ///   - byteLimit: the most bytes that all archives cost together; `nil`: no limit.
    ///   - countLimit: the most archives; `nil`: no limit.
    package init(byteLimit: Int?, countLimit: Int?) {
        self.byteLimit = byteLimit ?? .max
        self.countLimit = countLimit ?? .max
        state = Mutex(State(policy: ShortestReuse(count: self.countLimit, cost: self.byteLimit)))
    }

    package func setUser(_ user: any StoreUser) { self.user.withLock { $0 = StoreUserReference(user) } }

    private var currentUser: (any StoreUser)? { user.withLock { $0.user } }

    package var knownSize: KnownSize? {
        state.withLock { KnownSize(entryCount: $0.policy.count, byteCount: $0.policy.cost) }
    }

    /// The cost of all archives together, in bytes.
    package var cost: Int { state.withLock { $0.policy.cost } }

    // MARK: One entry

    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        try save(archive, forKey: key, attributes: attributes, cost: archive.count, if: condition)
    }

    /// Saves an archive that counts as many bytes as its user's value takes, not as many as it has.
    ///
    /// - Parameter cost: zero or more.
    /// - Throws: as for every save; `.tooLarge` if the cost is above the limit, or the limit is no entries.
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        cost: Int,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        // Refused as on disk, where they could not be written.
        _ = try attributes.encoded()
        guard countLimit > 0 else { throw StoreError.noEntries }
        guard cost <= byteLimit else { throw StoreError.tooLarge(cost, limit: byteLimit) }
        let user = currentUser
        let (saved, gone) = state.withLock { state -> (EntryInformation?, [HeldArchive]) in
            guard condition?(state.entries[key.bytes]?.stored.information) ?? true else { return (nil, []) }
            let information = EntryInformation(
                key: key.string,
                attributes: attributes,
                archiveByteCount: archive.count,
                storedByteCount: archive.count,
                identity: state.nextIdentity(attributes)
            )
            _ = state.remove(key)
            let new = HeldArchive(key, StoredArchive(archive: archive, information: information), user: user)
            var victims: [EvictionEntry] = []
            state.entries[key.bytes] = new
            state.policy.insert(new, cost: cost, removed: &victims)
            return (information, state.drop(victims))
        }
        for held in gone { user?.didEvict(held.stored.information) }
        return saved
    }

    package func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(entry.key)
        var attributes = entry.attributes
        attributes.expiresAt = date
        _ = try attributes.encoded()
        return state.withLock { state in
            guard let held = state.entries[key.bytes], held.stored.information.identity == entry.identity else {
                return nil
            }
            let moved = EntryInformation(
                key: entry.key,
                attributes: attributes,
                archiveByteCount: entry.archiveByteCount,
                storedByteCount: entry.storedByteCount,
                identity: state.nextIdentity(attributes)
            )
            held.stored = StoredArchive(archive: held.stored.archive, information: moved)
            return moved
        }
    }

    package func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        let key = try StoreKey(key)
        return state.withLock { state in
            let held = state.entries[key.bytes]
            held?.use()
            return held?.stored
        }
    }

    package func peek(
        forKey key: String,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) -> EntryInformation? {
        guard let stored = try peek(forKey: key) else { return nil }
        _ = body(stored.archive)
        return stored.information
    }

    package func peek(forKey key: String) throws(StoreError) -> StoredArchive? {
        let key = try StoreKey(key)
        return state.withLock { $0.entries[key.bytes]?.stored }
    }

    package func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        try peek(forKey: key)?.information
    }

    package func remove(forKey key: String) throws(StoreError) -> Bool {
        let key = try StoreKey(key)
        let removed = state.withLock { $0.remove(key) }
        return removed != nil
    }

    package func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        let key = try StoreKey(entry.key)
        let removed = state.withLock { state -> HeldArchive? in
            guard state.entries[key.bytes]?.stored.information.identity == entry.identity else { return nil }
            return state.remove(key)
        }
        return removed != nil
    }

    // MARK: Many entries

    package func removeAll() throws(StoreError) {
        let removed = state.withLock { state in
            defer { state.entries = [:] }
            return state.policy.removeAll()
        }
        _ = consume removed
    }

    /// Gives the memory back: the cache over it refuses all later calls.
    package func close() throws(StoreError) { try removeAll() }

    package func removeDamagedEntries() throws(StoreError) -> Int { 0 }

    package func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        for information in state.withLock({ $0.entries.values.map(\.stored.information) }) {
            guard body(.success(information)) else { return }
        }
    }

    package func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        for information in evict(toCount: .max, byteCount: byteCount) { removed(information) }
    }

    /// Evicts the least useful archives, until at most `count` archives of `byteCount` bytes are left.
    ///
    /// - Returns: the information of the archives that were evicted; the store's user is not told.
    package func evict(toCount count: Int, byteCount: Int) -> [EntryInformation] {
        let gone = state.withLock { state in
            var victims: [EvictionEntry] = []
            state.policy.trim(toCount: count, cost: byteCount, removed: &victims)
            return state.drop(victims)
        }
        return gone.map(\.stored.information)
    }
}

/// An archive that the store holds. The store's lock guards its mutable fields.
private final class HeldArchive: EvictionEntry, @unchecked Sendable {
    let key: StoreKey
    override var hash: UInt64 { KeyDigest(hashing: key.bytes).low }
    var stored: StoredArchive
    private weak let user: (any StoreUser)?

    init(_ key: StoreKey, _ stored: StoredArchive, user: (any StoreUser)?) {
        self.key = key
        self.stored = stored
        self.user = user
        super.init()
    }

    /// Most uses never reach the store, for the user has the value itself.
    override func gatherUses() {
        guard let uses = user?.takeUses(of: key.string) else { return }
        for _ in 0..<uses { use() }
    }
}
