import ArchiveStore

/// The keys that a listing gave last, so that it gives none twice.
///
/// `SCAN` goes through a server's table in the order of reversed bits. If the table grows in the meantime, no key comes twice;
/// if it shrinks, some buckets become one, which are neighbours in that order: only keys that were given just before can
/// come again. So a window of some thousand keys is enough, however many there are. A key that moves to another node of
/// a cluster in the meantime may come from both.
struct RecentKeys {
    /// How many are known at least, once so many were given.
    static let count = 8_192

    private var latest: Set<KeyDigest> = []
    private var former: Set<KeyDigest> = []

    /// Whether the key is not among the recent ones; it is then.
    mutating func insert(_ key: KeyDigest) -> Bool {
        if former.contains(key) || !latest.insert(key).inserted { return false }
        if latest.count >= Self.count {
            former = latest
            latest.removeAll(keepingCapacity: true)
        }
        return true
    }
}
