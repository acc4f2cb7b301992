/// A store of several machines, which join their loads: only the machine that has a key's lease saves a loaded value.
package protocol LeasingStore: ArchiveStore {
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
