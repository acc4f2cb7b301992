import Dispatch
import Synchronization

/// An account that this process has open, once, as long as this object is there: two would keep models in memory that the
/// other one has changed.
final class AccountClaim: Sendable {
    private struct Holder {
        /// Is left when the claim ends.
        let end = DispatchGroup()
        /// Whether the account was dropped, and only its last entries are still being written.
        var isDropped = false
    }

    private static let holders = Mutex<[String: Holder]>([:])

    /// How long an opening waits for an account that may just be dropped: a thread that ran one of its calls releases it a
    /// moment after the call returned.
    private static let patience = DispatchTimeInterval.seconds(1)

    private let path: String

    /// Blocks while another account has the claim, for a second at most, and while entries of a dropped one are written.
    ///
    /// - Returns: `nil` if another account has the claim.
    init?(path: String) {
        let deadline = DispatchTime.now() + Self.patience
        // First, for an object that is not made must not remove the other one's.
        while let holder = Self.holder(of: path) {
            if holder.isDropped {
                holder.end.wait()
            } else if holder.end.wait(timeout: deadline) == .timedOut, Self.hasAccount(path) {
                return nil
            }
        }
        self.path = path
    }

    /// The holder of the claim to a path; `nil` if there was none, and the caller has it now.
    private static func holder(of path: String) -> Holder? {
        holders.withLock { holders in
            if let holder = holders[path] { return holder }
            let own = Holder()
            own.end.enter()
            holders[path] = own
            return nil
        }
    }

    private static func hasAccount(_ path: String) -> Bool { holders.withLock { $0[path]?.isDropped == false } }

    /// Has openings wait for the claim's end: its account was dropped, and no more writes are added.
    func letOthersWait() { Self.holders.withLock { $0[path]?.isDropped = true } }

    deinit { Self.holders.withLock { [path] in $0.removeValue(forKey: path) }?.end.leave() }
}
