import Foundation

/// A store on a server, which several machines use.
package protocol RemoteStore: ArchiveStore {
    /// As ``ArchiveStore/fetch(forKey:)`` for several keys, but asks for all of them at once, and suspends until the
    /// answers are there.
    ///
    /// - Parameters:
    ///   - isUrgent: whether the caller has something else than the answer, and waits for a shorter time.
    ///   - mayBeOlder: whether a fresh entry will do that is not the last one.
    /// - Returns: the result for each key, in their order.
    func fetch(
        forKeys keys: [String],
        isUrgent: Bool,
        mayBeOlder: Bool
    ) async -> [Result<StoredArchive?, StoreError>]

    /// Compares the saves of entries in memory with the store's, without their archives.
    ///
    /// - Parameter isUrgent: whether the caller has something else than the answer, and waits for a shorter time.
    /// - Returns: for each entry whether the store has this very one, in their order.
    func compare(_ entries: [KnownEntry], isUrgent: Bool) async -> [Result<Bool, StoreError>]

    /// As ``compare(_:isUrgent:)`` for one entry, but blocks.
    func compare(_ entry: KnownEntry) throws(StoreError) -> Bool

    /// Whether memory may answer with an entry that was to be compared, because the store did not answer just now. It is
    /// counted then.
    func serveUnverified() -> Bool

    /// How long memory may keep a key's loaded value that cannot be saved, because the store did not answer just now; `nil`
    /// if it did.
    func keepingTime(ofKey key: String) -> Duration?

    /// Whether a failed change of a key's entry is to be undone yet. While it is, calls that change the entry have to block.
    func isOwed(_ key: String) -> Bool

    /// Another cache of this process changes a key's entry, or has changed it. The server does not tell a process of all
    /// its own changes. Must not block.
    func noteChange(ofKey key: String)

    /// As ``ArchiveStore/save(_:forKey:attributes:if:)`` without a condition, but suspends.
    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes
    ) async throws(StoreError) -> EntryInformation

    // MARK: Tools

    // Many entries by few questions, for tools that work on a cache from afar. All of them block.

    /// As ``ArchiveStore/information(forKey:)`` for several keys, in their order.
    func information(forKeys keys: [String]) -> [Result<EntryInformation?, StoreError>]

    /// As ``ArchiveStore/peek(forKey:)`` for several keys, in their order; the archives are held whole.
    func peek(forKeys keys: [String]) -> [Result<StoredArchive?, StoreError>]

    /// As ``ArchiveStore/save(_:)``, but keeps entries that are fresh at a date.
    ///
    /// - Returns: `nil` in place of the information of an archive that was not saved.
    func save(_ archives: [NewArchive], unlessFreshAt date: Date) -> [Result<EntryInformation?, StoreError>]

    /// As ``ArchiveStore/forEachEntry(_:)``, but gives also values in the places of entries that no cache has put there,
    /// as `.foreign`.
    func forEachValue(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError)

    // MARK: Leases

    // Machines join their loads: only the one that has a key's lease saves a loaded value.

    /// Whether they do.
    var joinsLoads: Bool { get }

    /// How long a lease lasts unless it is extended, and how long a load waits for one at most.
    var leaseDuration: Duration { get }

    /// Takes the leases of keys, up to the first one that another load has.
    ///
    /// - Returns: a lease for each of the first keys, in their order.
    /// - Throws: `.invalidKey`, `.unreachable`, `.closed`, `.forked`.
    func takeLeases(ofKeys keys: [String]) async throws(StoreError) -> [any LoadLease]

    /// Waits until another load may have ended, which has the lease of a key; at most for a time, and no longer than
    /// until the task is cancelled.
    func waitForLease(ofKey key: String, atMost time: Duration) async
}

extension RemoteStore {
    package func noteChange(ofKey key: String) {}
}

/// One entry after another: for stores that no tool works on from afar.
extension RemoteStore {
    package func information(forKeys keys: [String]) -> [Result<EntryInformation?, StoreError>] {
        keys.map { key in Result { () throws(StoreError) in try information(forKey: key) } }
    }

    package func peek(forKeys keys: [String]) -> [Result<StoredArchive?, StoreError>] {
        keys.map { key in Result { () throws(StoreError) in try peek(forKey: key) } }
    }

    package func save(
        _ archives: [NewArchive],
        unlessFreshAt date: Date
    ) -> [Result<EntryInformation?, StoreError>] {
        archives.map { new in
            Result { () throws(StoreError) in
                try save(new.archive, forKey: new.key, attributes: new.attributes) { former in
                    former?.attributes.freshness(at: date) != .fresh
                }
            }
        }
    }

    package func forEachValue(_ body: (Result<EntryInformation, StoreError>) -> Bool) throws(StoreError) {
        try forEachEntry(body)
    }
}

/// The right to save a loaded value, until a save or removal of the key, by any machine, ends it.
///
/// It is extended until it is given back, or the process ends.
package protocol LoadLease: AnyObject, Sendable {
    var key: String { get }
    /// Whether the store had an entry when the lease was taken.
    var foundEntry: Bool { get }

    /// Saves a loaded value. All else is as ``ArchiveStore/save(_:forKey:attributes:if:)`` has it.
    ///
    /// - Returns: `nil` if the lease has ended, or the condition does not hold.
    func save(
        _ archive: [UInt8],
        attributes: EntryAttributes,
        if condition: (() -> Bool)
    ) throws(StoreError) -> EntryInformation?

    /// Ends the lease.
    func giveBack() async
}

/// An entry that memory has, by its key and its save: see ``EntryIdentity/version``.
package struct KnownEntry: Sendable {
    package let key: String
    package let version: UInt64

    package init(key: String, version: UInt64) {
        self.key = key
        self.version = version
    }
}

extension RemoteStore {
    package var asRemote: (any RemoteStore)? { self }
}
