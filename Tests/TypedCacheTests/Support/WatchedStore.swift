import ArchiveStore
import Foundation
import Synchronization
import TestSupport

@testable import TypedCache

/// Passes everything on to another store, counts it, and can be held up or made to fail in between.
final class WatchedStore: ArchiveStore {
    struct Counts {
        var fetches = 0
        /// The requested moves of deadlines.
        var moveRequests = 0
        /// Deadlines that were moved: each one writes a file.
        var moves = 0
        /// The parts that were listed, in that order.
        var parts: [Int] = []
    }

    /// Called before the other store is; throws in its place.
    struct Interference {
        var fetch: (@Sendable (_ key: String) throws(StoreError) -> Void)?
        var save: (@Sendable (_ archive: [UInt8]) throws(StoreError) -> Void)?
        var move: (@Sendable () throws(StoreError) -> Void)?
        var remove: (@Sendable () throws(StoreError) -> Void)?
        /// Called after the other store has removed some entries, or all for `nil`, before the cache learns of it.
        var removed: (@Sendable (_ keys: [String]?) -> Void)?
        var list: (@Sendable (_ part: Int) throws(StoreError) -> Void)?
        /// Called after the other store has settled a key.
        var settled: (@Sendable () -> Void)?
        /// Replaces a listed part.
        var listed: (@Sendable (Listing) -> Listing)?
    }

    typealias Listing = [Result<EntryInformation, StoreError>]

    let base: any ArchiveStore
    private let counted = Mutex(Counts())
    private let interference = Mutex(Interference())

    init(_ base: any ArchiveStore) { self.base = base }

    /// A store in the folder of a test.
    convenience init(_ directory: TestDirectory, name: String = "cache") throws {
        self.init(try directory.store(name))
    }

    var counts: Counts { counted.withLock { $0 } }

    func interfere(_ change: (inout sending Interference) -> Void) { interference.withLock { change(&$0) } }

    static let failure = StoreError(.io, path: "/x", action: "trying", reason: "no space left", errorNumber: 28)

    private var now: Interference { interference.withLock { $0 } }

    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes,
        if condition: ((EntryInformation?) -> Bool)?
    ) throws(StoreError) -> EntryInformation? {
        try now.save?(archive)
        return try base.save(archive, forKey: key, attributes: attributes, if: condition)
    }

    func moveDeadline(of entry: EntryInformation, to date: Date?) throws(StoreError) -> EntryInformation? {
        counted.withLock { $0.moveRequests += 1 }
        try now.move?()
        let moved = try base.moveDeadline(of: entry, to: date)
        if moved != nil { counted.withLock { $0.moves += 1 } }
        return moved
    }

    func fetch(forKey key: String) throws(StoreError) -> StoredArchive? {
        counted.withLock { $0.fetches += 1 }
        try now.fetch?(key)
        return try base.fetch(forKey: key)
    }

    func information(forKey key: String) throws(StoreError) -> EntryInformation? {
        try base.information(forKey: key)
    }

    func remove(forKey key: String) throws(StoreError) -> Bool {
        try now.remove?()
        return try base.remove(forKey: key)
    }

    func remove(_ entry: EntryInformation) throws(StoreError) -> Bool {
        try now.remove?()
        return try base.remove(entry)
    }

    func removeAll() throws(StoreError) {
        try now.remove?()
        try base.removeAll()
        now.removed?(nil)
    }

    func removeExpired(at date: Date, removed: (EntryInformation) -> Void) throws(StoreError) {
        try now.remove?()
        try base.removeExpired(at: date, removed: removed)
    }

    func removeAll(
        tagged tag: String,
        removing: (EntryInformation) -> Void,
        removed: (EntryInformation) -> Void
    ) throws(StoreError) {
        try now.remove?()
        var keys: [String] = []
        try base.removeAll(tagged: tag, removing: removing) { entry in
            keys.append(entry.key)
            now.removed?(keys)
            removed(entry)
        }
    }

    func removeDamagedEntries() throws(StoreError) -> Int { try base.removeDamagedEntries() }

    func trim(toByteCount byteCount: Int, removed: (EntryInformation) -> Void) throws(StoreError) {
        try base.trim(toByteCount: byteCount, removed: removed)
    }

    func flush() throws(StoreError) { try base.flush() }

    func settle(_ key: String?) {
        base.settle(key)
        now.settled?()
    }

    var partCount: Int { base.partCount }

    func entries(inPart part: Int) throws(StoreError) -> Listing {
        counted.withLock { $0.parts.append(part) }
        try now.list?(part)
        let entries = try base.entries(inPart: part)
        return now.listed?(entries) ?? entries
    }

    func setUser(_ user: any StoreUser) { base.setUser(user) }
    func digest(of key: String) -> KeyDigest { base.digest(of: key) }
    func changesByOthers() throws(StoreError) -> ChangesByOthers { try base.changesByOthers() }

    func forEachEntry(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        try base.forEachEntry(body)
    }
}

extension Cache {
    /// A cache over a store of a test's own.
    ///
    /// - Parameter place: the path of a directory; caches with the same one know each other.
    convenience init(
        over store: any ArchiveStore,
        place: String = "/test/\(UUID().uuidString)",
        memory: MemorySettings = MemorySettings(),
        sharesValues: Bool = true,
        expiration: Expiration = .never,
        clock: any CacheClock = SystemClock(),
        observer: (any CacheObserver)? = nil,
        reporter: (@Sendable (CacheError) -> Void)? = nil
    ) {
        self.init(
            name: "test",
            directory: URL(fileURLWithPath: place, isDirectory: true),
            store: store,
            settings: CacheSettings(
                memory: memory,
                valueSharing: sharesValues ? .shared : .decodedEachTime,
                expiration: expiration,
                clock: clock,
                observer: observer ?? reporter.map { FailureObserver(told: $0) }
            ),
            isSendable: true
        )
    }
}
