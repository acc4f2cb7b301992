import ArchiveStore

/// A store whose leases take its entries into account: a load needs no lease of a key that has a fresh entry.
package protocol LoadingStore: RemoteStore {
    /// As `takeLeases(ofKeys:)`, but of some keys leases are taken only if there is no fresh entry, in one step with the look
    /// at it.
    ///
    /// - Parameter unseen: the keys whose fresh entries the load is to use.
    /// - Returns: answers for the first keys, up to the first one whose lease another load has.
    func takeLeases(
        ofKeys keys: [String],
        unlessFresh unseen: Set<String>
    ) async throws(StoreError) -> [LeaseAnswer]
}

/// The answer to a load that asks for a key's lease.
package enum LeaseAnswer: Sendable {
    case taken(any LoadLease)
    /// The store has a fresh entry, by its own clock, and the load has no lease.
    case fresh
}

extension LoadingStore {
    package func takeLeases(ofKeys keys: [String]) async throws(StoreError) -> [any LoadLease] {
        try await takeLeases(ofKeys: keys, unlessFresh: []).compactMap { answer in
            if case .taken(let lease) = answer { lease } else { nil }
        }
    }
}
