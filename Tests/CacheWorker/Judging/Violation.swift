/// A broken law, with the evidence.
struct Violation: Hashable, CustomStringConvertible {
    /// Which law is broken.
    enum Law: String, Hashable {
        /// A value was fetched that no save ever began for that key.
        case neverWritten
        /// A value differs from the value that was saved.
        case torn
        /// A value was seen that had certainly been saved over or removed, or that was saved only later.
        case phantom
        /// An acknowledged save is gone.
        case lost
        /// An operation failed, or an entry was damaged, though nothing was wrong outside of the cache.
        case failed
        /// Processes that should see the same do not.
        case disagreement
        /// Drafts of dead processes stay, or one of a living process went.
        case drafts
        /// More entries are there than the limits allow, or totals differ from the entries.
        case limits
        /// A change in one step was lost or done twice.
        case miscounted
        /// A process saw a value that is older than one that it had saved, removed or seen.
        case backwards
        /// Two processes ran producers of one key at once.
        case doubled
    }

    let law: Law
    let evidence: String

    var description: String { "\(law): \(evidence)" }
}
