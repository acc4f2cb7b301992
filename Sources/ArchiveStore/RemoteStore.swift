/// A store on a server, which several machines use.
package protocol RemoteStore: ArchiveStore {
    /// As ``ArchiveStore/fetch(forKey:)`` for several keys, but asks for all of them at once, and suspends until the
    /// answers are there.
    ///
    /// - Parameter isUrgent: whether the caller has something else than the answer, and waits for a shorter time.
    /// - Returns: the result for each key, in their order.
    func fetch(forKeys keys: [String], isUrgent: Bool) async -> [Result<StoredArchive?, StoreError>]

    /// Compares the saves of entries that memory has with those that the store has, without their archives.
    ///
    /// - Parameter isUrgent: whether the caller has something else than the answer, and waits for a shorter time.
    /// - Returns: for each entry whether the store has this very one, in their order.
    func compare(_ entries: [KnownEntry], isUrgent: Bool) async -> [Result<Bool, StoreError>]

    /// As ``compare(_:isUrgent:)`` for one entry, but blocks.
    func compare(_ entry: KnownEntry) throws(StoreError) -> Bool

    /// Whether memory may answer with entries that were to be compared, because the store did not answer just now.
    var servesUnverified: Bool { get }

    /// How long memory may keep a loaded value that cannot be saved, because the store did not answer just now; `nil` if
    /// it did.
    var keepingTime: Duration? { get }

    /// Whether no failed change is to be undone yet. While one is, calls that change entries have to block.
    var isSettled: Bool { get }

    /// As ``ArchiveStore/save(_:forKey:attributes:if:)`` without a condition, but suspends.
    func save(
        _ archive: [UInt8],
        forKey key: String,
        attributes: EntryAttributes
    ) async throws(StoreError) -> EntryInformation

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
