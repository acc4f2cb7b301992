/// Remembers the keys that were given up lately, by their hashes: two that share one do no harm but a wrong guess.
struct GhostQueue {
    private var order: [Int] = []
    /// Where `order` begins; what is before it is gone.
    private var start = 0
    /// How often each hash stands in `order`.
    private var counts: [Int: Int] = [:]

    /// Adds a hash, and forgets the oldest ones above `limit`.
    mutating func add(_ hash: Int, limit: Int) {
        order.append(hash)
        counts[hash, default: 0] += 1
        while order.count - start > max(limit, 1) {
            forget(order[start])
            start += 1
        }
        if start > 64, start * 2 > order.count {
            order.removeFirst(start)
            start = 0
        }
    }

    /// Whether a hash is remembered; it counts as used up then.
    mutating func take(_ hash: Int) -> Bool { counts.removeValue(forKey: hash) != nil }

    private mutating func forget(_ hash: Int) {
        guard let count = counts[hash] else { return }
        counts[hash] = count > 1 ? count - 1 : nil
    }
}
