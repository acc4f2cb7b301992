/// The record of an entry that was evicted lately, in 16 bytes.
struct Ghost {
    /// A part of its key's hash: two keys that share it lead to a wrong guess at most.
    fileprivate let tag: UInt32
    /// When it was last known to be used, in insertions.
    let usedAt: UInt32
    let state: EntryState
    /// The place of the next one in its bucket.
    fileprivate var next: Int32 = -1

    init(hash: UInt64, usedAt: UInt32, state: EntryState) {
        tag = Self.tag(hash)
        self.usedAt = usedAt
        self.state = state
    }

    fileprivate static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 20) }
}

/// The ghosts of entries that were evicted lately, in that order, found by hash.
///
/// A ring, in which the ghosts of each bucket of hashes are a list, and the places of the lists' first ones. A ghost that
/// was taken leaves its place unused until it would be the oldest. With its bucket, and the places by which the ring
/// grows, a ghost takes 19 to 24 bytes.
struct Ghosts {
    private static var none: Int32 { -1 }
    private static var unused: Ghost { Ghost(hash: 0, usedAt: 0, state: EntryState(.small, UseHistory())) }

    private var ring: [Ghost] = []
    /// The places of the first ones; a power of two of them, three quarters to one and a half of the ring's places.
    private var buckets: [Int32] = []
    /// The place of the oldest one.
    private var start = 0
    /// The places from `start` on that hold a ghost, or held one that was taken.
    private var count = 0

    /// Adds one, and forgets the oldest ones, so that at most `limit` are left.
    ///
    /// - Parameter limit: at least one.
    /// - Precondition: there is no ghost of its key.
    mutating func add(_ ghost: Ghost, limit: Int) {
        while count >= limit { forgetOldest() }
        if count == ring.count { grow() }
        let place = start + count < ring.count ? start + count : start + count - ring.count
        ring[place] = ghost
        count += 1
        link(place)
    }

    /// Removes and returns the ghost of a key with this hash; `nil` if there is none.
    ///
    /// - Returns: `age` is the number of ghosts that were added since, and one.
    mutating func take(_ hash: UInt64) -> (ghost: Ghost, age: Int)? {
        let tag = Ghost.tag(hash)
        guard let place = unlink(tag, where: { ghost, _ in ghost.tag == tag }) else { return nil }
        return (ring[place], count - order(place))
    }

    private mutating func forgetOldest() {
        let oldest = start
        _ = unlink(ring[oldest].tag) { _, place in place == oldest }
        start = oldest + 1 < ring.count ? oldest + 1 : 0
        count -= 1
    }

    // MARK: Buckets

    private func bucket(_ tag: UInt32) -> Int { Int(tag) & (buckets.count - 1) }

    private mutating func link(_ place: Int) {
        let bucket = bucket(ring[place].tag)
        ring[place].next = buckets[bucket]
        buckets[bucket] = Int32(place)
    }

    /// Takes the first one for which `isWanted` holds out of its bucket.
    ///
    /// - Returns: its place.
    private mutating func unlink(_ tag: UInt32, where isWanted: (Ghost, Int) -> Bool) -> Int? {
        guard !buckets.isEmpty else { return nil }
        var former: Int?
        var place = buckets[bucket(tag)]
        while place != Self.none {
            let ghost = ring[Int(place)]
            if isWanted(ghost, Int(place)) {
                if let former { ring[former].next = ghost.next } else { buckets[bucket(tag)] = ghost.next }
                return Int(place)
            }
            former = Int(place)
            place = ghost.next
        }
        return nil
    }

    private mutating func grow() {
        let size = ring.count + max(16, ring.count / 8)
        let bucketCount = 1 << (Int.bitWidth - (size * 3 / 4 - 1).leadingZeroBitCount)
        let isRelinked = start > 0 || bucketCount > buckets.count
        let linked = isRelinked ? places.map(order) : []
        var grown: [Ghost] = []
        grown.reserveCapacity(size)
        grown += ring[start...]
        grown += ring[..<start]
        grown += repeatElement(Self.unused, count: size - count)
        (ring, start) = (grown, 0)
        guard isRelinked else { return }
        buckets = Array(repeating: Self.none, count: bucketCount)
        for place in linked { link(place) }
    }

    /// How many places a place lies after the oldest ghost's.
    private func order(_ place: Int) -> Int { place < start ? place + ring.count - start : place - start }

    /// The places of the ghosts that are there, by buckets.
    private var places: [Int] {
        buckets.flatMap { first in
            sequence(first: first) { ring[Int($0)].next }.prefix { $0 != Self.none }.map(Int.init)
        }
    }

    /// Whether each ghost is in its bucket, once, and in the part of the ring that is in use: for tests.
    var isSound: Bool {
        let places = places
        return Set(places).count == places.count && places.allSatisfy { order($0) < count }
            && buckets.indices.allSatisfy { bucket in
                sequence(first: buckets[bucket]) { ring[Int($0)].next }.prefix { $0 != Self.none }
                    .allSatisfy { self.bucket(ring[Int($0)].tag) == bucket }
            }
    }
}
