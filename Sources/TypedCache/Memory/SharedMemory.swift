import ArchiveStore
import Foundation
import Synchronization

/// The memory tier of one cache, known to the other caches of this process that have the same directory.
///
/// What one of them saves or removes, the others forget before the call returns: so one program may open a cache
/// in several places, and none of them sees what another one has replaced.
final class SharedMemory: Sendable {
    /// What a hit needs.
    let table = EntryTable()
    /// Guards what is done to the table, too.
    private let tier: Mutex<MemoryTier>
    /// `nil` for a cache that shares its entries with no other.
    private let directory: String?
    /// Where the entries come from.
    private let store: any ArchiveStore
    /// What is being loaded.
    let flights = Flights()

    init(settings: MemorySettings, directory: String?, store: any ArchiveStore) {
        self.store = store
        tier = Mutex(MemoryTier(settings: settings, table: table))
        self.directory = directory
        if let directory {
            Self.neighbors.withLock { $0[directory, default: []].append(Neighbor(memory: self)) }
        }
    }

    deinit {
        table.deallocate()
        guard let directory else { return }
        Self.neighbors.withLock { neighbors in
            // The others are not looked at: a reference that is loaded here may be the last one to one of them,
            // whose end would come here again.
            neighbors[directory]?.removeAll { $0.identity == ObjectIdentifier(self) }
            if neighbors[directory]?.isEmpty == true { neighbors[directory] = nil }
        }
    }

    var statistics: CacheStatistics {
        var statistics = withLock { $0.statistics }
        statistics.memoryHits = table.hits
        return statistics
    }

    /// Whether memory has an entry for a key, or may be about to.
    func isKnown(_ key: EntryKey) -> Bool { table.contains(key) || withLock { $0.isUnderWay(key) } }

    func withLock<Result>(_ body: (inout sending MemoryTier) -> sending Result) -> sending Result {
        tier.withLock(body)
    }

    // MARK: Neighbors

    private struct Neighbor: Sendable {
        let identity: ObjectIdentifier
        weak let memory: SharedMemory?

        init(memory: SharedMemory) {
            identity = ObjectIdentifier(memory)
            self.memory = memory
        }
    }

    private static let neighbors = Mutex<[String: [Neighbor]]>([:])

    private var others: [SharedMemory] {
        guard let directory else { return [] }
        return Self.neighbors.withLock { neighbors in
            guard let members = neighbors[directory], members.count > 1 else { return [] }
            return members.compactMap(\.memory).filter { $0 !== self }
        }
    }

    /// Has the other caches forget a key, after its entry on disk has changed.
    ///
    /// - Parameter bar: whether the key is barred for them, too.
    func tellOthers(changed key: EntryKey, bar: MemoryTier.Bar = .lifted) {
        for other in others {
            other.flights.forgetFailure(key)
            let dropped = other.withLock { $0.forget(key, bar: bar) }
            _ = consume dropped
        }
    }

    /// Has the other caches forget a key whose entry was given up or has expired.
    func tellOthers(departed key: EntryKey) {
        for other in others {
            let dropped = other.withLock { $0.depart(key) }
            _ = consume dropped
        }
    }

    /// Has the other caches forget everything, for any of it may be out of date.
    func tellOthersAllLost() {
        for other in others {
            let dropped = other.withLock { $0.loseAll() }
            _ = consume dropped
        }
    }

    /// Waits until what the other caches have deferred for a key is written, or for all keys if it is `nil`.
    func settleOthers(_ key: EntryKey?) {
        for other in others { other.store.settle(key?.text) }
    }

    /// Has the other caches forget everything, after everything was removed from disk.
    func tellOthersAllRemoved() {
        for other in others {
            other.flights.forgetFailures()
            let dropped = other.withLock { $0.removeAll() }
            _ = consume dropped
        }
    }
}
