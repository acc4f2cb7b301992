import Dispatch
import Synchronization

/// An account that this process has open, once, as long as this object is there: two would keep models in memory that the
/// other one has changed.
final class AccountClaim: Sendable {
    private enum Holder {
        case account
        /// The account was dropped, and its last entries are being written; the group ends with the claim.
        case writes(DispatchGroup)
    }

    private static let holders = Mutex<[String: Holder]>([:])

    private let path: String

    /// Blocks while entries of an account that was dropped are written.
    ///
    /// - Returns: `nil` if another account has the claim.
    init?(path: String) {
        // First, for an object that is not made must not remove the other one's.
        while true {
            let holder = Self.holders.withLock { holders in
                let holder = holders[path]
                if holder == nil { holders[path] = .account }
                return holder
            }
            switch holder {
            case nil: break
            case .account: return nil
            case .writes(let end):
                end.wait()
                continue
            }
            break
        }
        self.path = path
    }

    /// Has others wait for the claim: its account was dropped, and no more writes are added.
    func letOthersWait() {
        let end = DispatchGroup()
        end.enter()
        Self.holders.withLock { $0[path] = .writes(end) }
    }

    deinit {
        let holder = Self.holders.withLock { $0.removeValue(forKey: path) }
        if case .writes(let end) = holder { end.leave() }
    }
}
