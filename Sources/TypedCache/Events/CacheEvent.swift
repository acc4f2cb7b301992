/// Something that a cache did, and to which entry.
///
/// Every event is counted in ``CacheStatistics`` at the same time, so that the two reconcile.
public struct CacheEvent: Sendable {
    /// A kind of event. New ones may be added: always keep a `default` when switching.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Base: String {
            case saved, hit, servedStale, missed, joined, loaded, revalidated, loadFailed, removed, removedAll,
                invalidated, verified, failed
        }

        private let base: Base

        /// A value was saved.
        public static let saved = Kind(base: .saved)
        /// A fetch was answered with a fresh value; ``CacheEvent/tier`` says from where.
        public static let hit = Kind(base: .hit)
        /// A fetch that may load was answered with a value that had expired, within one of its stale windows.
        public static let servedStale = Kind(base: .servedStale)
        /// A fetch found nothing, or nothing that may be used.
        public static let missed = Kind(base: .missed)
        /// A fetch found nothing that may be used, and waited for a producer that another fetch had started.
        public static let joined = Kind(base: .joined)
        /// A value was loaded by a producer, whether or not it was saved then.
        public static let loaded = Kind(base: .loaded)
        /// A producer said that the expired value is still the right one, whether or not its new deadline was saved
        /// then.
        public static let revalidated = Kind(base: .revalidated)
        /// A producer threw; ``CacheEvent/cause`` is its error.
        public static let loadFailed = Kind(base: .loadFailed)
        /// An entry left; ``CacheEvent/reason`` says why, and ``CacheEvent/tier`` from where.
        public static let removed = Kind(base: .removed)
        /// All entries were removed by a call; the event has no key.
        public static let removedAll = Kind(base: .removedAll)
        /// Memory dropped the entry because another process or machine has changed it. Without a key, any entry may
        /// have changed, for example because a connection to a server was lost.
        public static let invalidated = Kind(base: .invalidated)
        /// The entry in memory was compared with the server's, because another machine may have changed it unnoticed;
        /// both are the same.
        public static let verified = Kind(base: .verified)
        /// A failure that no call could throw, for example of a deferred save or of the removal of an expired entry;
        /// ``CacheEvent/cause`` is the error.
        public static let failed = Kind(base: .failed)

        /// The name of the kind, such as `saved`.
        public var description: String { base.rawValue }
    }

    /// One of a cache's tiers.
    public struct Tier: Sendable, Hashable, CustomStringConvertible {
        private enum Base: String { case memory, disk, shared }

        private let base: Base

        /// The memory of this process.
        public static let memory = Tier(base: .memory)
        /// This machine's disk: the cache's entries, or copies of a server's entries.
        public static let disk = Tier(base: .disk)
        /// A server that machines share.
        public static let shared = Tier(base: .shared)

        /// The name of the tier: `memory`, `disk` or `shared`.
        public var description: String { base.rawValue }
    }

    /// Why an entry left. New reasons may be added: always keep a `default` when switching.
    public struct RemovalReason: Sendable, Hashable, CustomStringConvertible {
        private enum Base: String { case expired, evicted, removed, replaced, corrupted }

        private let base: Base

        /// It was found expired.
        public static let expired = RemovalReason(base: .expired)
        /// It was evicted to make room. An entry that memory evicted stays on disk, where there is one.
        public static let evicted = RemovalReason(base: .evicted)
        /// A call removed it, by its key, its tag or a choice, or `modify` set it to `nil`; or a save for its key
        /// failed.
        public static let removed = RemovalReason(base: .removed)
        /// Another value was saved for its key. Told of entries that memory had; an entry that was on disk alone is
        /// replaced without an event.
        public static let replaced = RemovalReason(base: .replaced)
        /// It was found damaged, and taken out of the way; ``CacheEvent/cause`` describes the damage.
        public static let corrupted = RemovalReason(base: .corrupted)

        /// The name of the reason, such as `evicted`.
        public var description: String { base.rawValue }
    }

    /// The kind of event.
    public let kind: Kind
    /// The entry's key; `nil` where the event is about no entry, or about one with an unknown key.
    public let key: String?
    /// Where an entry was found, or which tier it left; `nil` for events about neither.
    public let tier: Tier?
    /// Why an entry left; `nil` unless ``kind`` is ``Kind/removed``.
    public let reason: RemovalReason?
    /// The error, for `.failed`, `.loadFailed`, and entries that were found damaged; otherwise `nil`.
    public let cause: (any Error)?

    /// Makes an event as a cache reports it: for tests, and for types that replace a cache.
    public init(
        kind: Kind,
        key: String? = nil,
        tier: Tier? = nil,
        reason: RemovalReason? = nil,
        cause: (any Error)? = nil
    ) {
        self.kind = kind
        self.key = key
        self.tier = tier
        self.reason = reason
        self.cause = cause
    }

    /// - Parameter storeTier: the tier of the cache's store.
    init(_ occurrence: Occurrence, key: String?, cause: (any Error)? = nil, storeTier: Tier = .disk) {
        let told = occurrence.public
        (kind, reason) = (told.kind, told.reason)
        tier = told.tier == .disk ? storeTier : told.tier
        self.key = key
        self.cause = cause
    }
}
