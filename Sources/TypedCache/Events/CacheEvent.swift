/// Something that a cache did, and to which entry.
///
/// Every event is counted in ``CacheStatistics`` at the same time, so that the two reconcile.
public struct CacheEvent: Sendable {
    /// Where an entry was found, or where it was given up.
    public enum Tier: Sendable, Hashable {
        case memory
        case disk
    }

    /// What was done. New cases may be added: always keep a `default` when switching.
    public enum Kind: Sendable, Hashable {
        /// A value was saved.
        case saved
        /// A fetch was answered with a fresh value.
        case hit(Tier)
        /// A fetch that may load was answered with a value that had expired, within one of its stale windows.
        case servedStale
        /// A fetch found nothing, or nothing that may be used.
        case missed
        /// A value was loaded by a producer, whether or not it was saved then.
        case loaded
        /// A producer threw; ``CacheEvent/cause`` says what.
        case loadFailed
        /// An entry was found expired, and removed from disk.
        case expired
        /// An entry was given up to make room. One that memory gave up stays on disk.
        case evicted(Tier)
        /// An entry was removed by a call for it, or for its tag.
        case removed
        /// All entries were removed; the key is empty.
        case removedAll
        /// An entry was found damaged, and taken out of the way; ``CacheEvent/cause`` says what was wrong. The key is
        /// empty where it is not known.
        case corrupted
        /// Something failed that no call could throw: a save that was deferred, the removal of an expired entry;
        /// ``CacheEvent/cause`` says what.
        case failed
    }

    /// What was done.
    public let kind: Kind
    /// The entry's key; empty where it is about none.
    public let key: String
    /// Why, for `.corrupted`, `.failed` and `.loadFailed`.
    public let cause: (any Error)?

    init(_ kind: Kind, key: String, cause: (any Error)? = nil) {
        self.kind = kind
        self.key = key
        self.cause = cause
    }
}
