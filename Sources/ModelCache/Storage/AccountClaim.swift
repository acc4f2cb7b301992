import Synchronization

/// An account that this process has open, once, as long as this object is there: two would keep models in memory that the
/// other one has changed.
final class AccountClaim: Sendable {
    private static let claimed = Mutex<Set<String>>([])

    private let path: String

    /// - Returns: `nil` if another one has it.
    init?(path: String) {
        // First, for an object that is not made must not give up the other one's.
        guard Self.claimed.withLock({ $0.insert(path).inserted }) else { return nil }
        self.path = path
    }

    deinit { _ = Self.claimed.withLock { [path] in $0.remove(path) } }
}
