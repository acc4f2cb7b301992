import Synchronization

/// Tells a hit that needs no more than its count from one that listeners or a profile are to see: by one comparison, and
/// no reference to either.
final class HitGate: Sendable {
    private let heard = Atomic<UInt64>(0)
    private let sampled = Atomic<UInt64>(0)

    /// Whether listeners see all hits.
    var isHeard: Bool {
        get { heard.load(ordering: .relaxed) != 0 }
        set { heard.store(newValue ? .max : 0, ordering: .relaxed) }
    }

    /// Hits on keys with hashes up to it are sampled, except for hash 0 where it is 0.
    var threshold: UInt64 {
        get { sampled.load(ordering: .relaxed) }
        set { sampled.store(newValue, ordering: .relaxed) }
    }

    /// Whether a hit on a key with this hash may have to be heard or sampled.
    @inline(__always) func stops(_ hash: UInt64) -> Bool {
        hash <= heard.load(ordering: .relaxed) | sampled.load(ordering: .relaxed)
    }
}
