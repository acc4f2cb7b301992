/// The events of a tier since it was opened, of all its caches together. Hits in memory are in the statistics of each
/// cache.
public struct SharedStatistics: Sendable, Hashable {
    /// Entries that the server gave.
    public internal(set) var hits = 0
    /// Entries that replicas gave, see ``SharedSettings/reads``. They are not among ``hits``.
    public internal(set) var replicaHits = 0
    /// Entries that the near disk gave, where there is one.
    public internal(set) var nearHits = 0
    /// Failures of the near disk, damaged copies among them; the server was asked instead.
    public internal(set) var nearFailures = 0
    /// Entries that the server was asked for, and does not have.
    public internal(set) var misses = 0
    /// Entries in memory, or on the near disk, that were compared with the server's, by 59 bytes each.
    public internal(set) var compares = 0
    /// Compared entries that were still the same.
    public internal(set) var unchanged = 0
    /// Entries of memory, or of the near disk, that fetches gave although no server could compare them: see
    /// ``SharedSettings/Outage/serve``.
    public internal(set) var unverifiedHits = 0
    /// Messages of the server about changes of entries by other clients, or by the server itself.
    public internal(set) var invalidations = 0
    /// Messages of the server about changes that conditional saves and removals of this process made.
    public internal(set) var ownEchoes = 0
    /// How often the server began to tell of changes: once, and after each loss of a connection.
    public internal(set) var epochs = 0
    /// Changes that the server did not acknowledge. The tier removes their entries on the server until it
    /// acknowledges that.
    public internal(set) var debts = 0
    /// Leases that loads of this process got.
    public internal(set) var leasesWon = 0
    /// How often loads waited because another one had the lease.
    public internal(set) var leasesWaited = 0
    /// Loaded values that were not saved, because a change had ended their lease.
    public internal(set) var leasesLost = 0
    /// Calls without an answer in time.
    public internal(set) var timeouts = 0
    /// Commands that a node of a cluster sent to another one, which has their slot (`MOVED`).
    public internal(set) var redirectsMoved = 0
    /// Commands that a node of a cluster sent to another one, to which their slot is on its way (`ASK`).
    public internal(set) var redirectsAsked = 0
    /// Commands that a node of a cluster put off because some of their keys were on their way to another one (`TRYAGAIN`).
    public internal(set) var commandsDelayed = 0
    /// Commands that were sent again because a node of a cluster was down, or its connection was lost.
    public internal(set) var commandsRepeated = 0
    /// Bytes sent to the server, of commands and their keys and values; with TLS before they were encrypted.
    public internal(set) var bytesSent = 0
    /// Bytes received from the server, of answers and messages; with TLS after they were decrypted.
    public internal(set) var bytesReceived = 0

    /// Counts that are all zero.
    public init() {}
}

extension SharedStatistics: CustomStringConvertible {
    /// One line for a log: all counts that are not zero.
    public var description: String {
        let counts = [
            ("hits", hits), ("replica hits", replicaHits), ("near hits", nearHits), ("near failures", nearFailures),
            ("misses", misses),
            ("compares", compares), ("unchanged", unchanged), ("unverified hits", unverifiedHits),
            ("invalidations", invalidations),
            ("own echoes", ownEchoes), ("epochs", epochs), ("debts", debts), ("leases won", leasesWon),
            ("waits for leases", leasesWaited), ("leases lost", leasesLost), ("timeouts", timeouts),
            ("moved", redirectsMoved), ("asked elsewhere", redirectsAsked), ("delayed", commandsDelayed),
            ("repeated", commandsRepeated), ("bytes sent", bytesSent), ("bytes received", bytesReceived),
        ]
        let parts = counts.filter { $0.1 > 0 }.map { "\($0.1) \($0.0)" }
        return parts.isEmpty ? "nothing yet" : parts.joined(separator: ", ")
    }
}
