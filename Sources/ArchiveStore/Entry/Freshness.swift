/// The uses that an entry still has at a moment, by its deadline and its stale windows.
package enum Freshness: Sendable, Hashable {
    /// Every fetch may return it.
    case fresh
    /// Expired: a fetch that loads returns it at once, and loads its value again in the background.
    case staleWhileRevalidate
    /// Expired: a fetch that loads returns it if its producer fails.
    case staleIfError
    /// Expired, and no fetch may return it. It stays on disk for as long as a read may have moved its idle deadline
    /// further than the disk knows.
    case expired
    /// Of no use any longer: it may be removed.
    case useless

    /// Whether a call may return the entry that takes expired ones as well.
    package var isServable: Bool {
        switch self {
        case .fresh, .staleWhileRevalidate, .staleIfError: true
        case .expired, .useless: false
        }
    }
}
