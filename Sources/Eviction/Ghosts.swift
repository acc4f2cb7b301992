/// The record of an entry that was given up lately.
struct Ghost {
    enum Origin: UInt8 {
        case small
        case main
    }

    /// A part of its key's hash: two keys that share it lead to a wrong guess at most.
    fileprivate let tag: UInt32
    /// When it was last known to be used, in insertions.
    let usedAt: UInt32
    /// When it was given up, in insertions.
    let leftAt: UInt32
    let origin: Origin

    init(hash: UInt64, usedAt: UInt32, leftAt: UInt32, origin: Origin) {
        tag = Self.tag(hash)
        self.usedAt = usedAt
        self.leftAt = leftAt
        self.origin = origin
    }

    fileprivate static func tag(_ hash: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: hash >> 20) }
}

/// The ghosts of entries that were given up lately, in that order, found by hash.
///
/// A ring of 16 bytes for each, and an index of twice as many places of 4 bytes: see ``LinearProbing``.
struct Ghosts {
    private var ring: [Ghost?] = []
    /// One more than the place in `ring`, or zero for none.
    private var index: [UInt32] = []
    /// How many were ever forgotten, and ever added. `ring` has a power of two of places, so that the remainders are
    /// places in it.
    private var start = 0
    private var end = 0

    /// Adds one, and forgets the oldest ones, so that at most `limit` are left.
    ///
    /// - Parameter limit: at least one.
    mutating func add(_ ghost: Ghost, limit: Int) {
        _ = take(tag: ghost.tag)
        while end - start >= limit { forgetOldest() }
        if end - start == ring.count { grow() }
        let place = end & (ring.count - 1)
        ring[place] = ghost
        end += 1
        put(place, ghost.tag)
    }

    /// Removes and returns the ghost of a key with this hash; `nil` if there is none.
    mutating func take(_ hash: UInt64) -> Ghost? { take(tag: Ghost.tag(hash)) }

    private mutating func take(tag: UInt32) -> Ghost? {
        guard let found = find(tag) else { return nil }
        let place = Int(index[found]) - 1
        vacate(found)
        return ring[place].take()
    }

    private mutating func forgetOldest() {
        if let ghost = ring[start & (ring.count - 1)] { _ = take(tag: ghost.tag) }
        start += 1
    }

    // MARK: Index

    private func find(_ tag: UInt32) -> Int? {
        guard !index.isEmpty else { return nil }
        var position = Int(tag) & (index.count - 1)
        while index[position] != 0 {
            if ring[Int(index[position]) - 1]?.tag == tag { return position }
            position = (position + 1) & (index.count - 1)
        }
        return nil
    }

    private mutating func put(_ place: Int, _ tag: UInt32) {
        var position = Int(tag) & (index.count - 1)
        while index[position] != 0 { position = (position + 1) & (index.count - 1) }
        index[position] = UInt32(place + 1)
    }

    /// Frees a slot of the index, and moves up the ghosts that lie further back because it was taken.
    private mutating func vacate(_ position: Int) {
        let mask = index.count - 1
        var hole = position
        var next = (hole + 1) & mask
        while index[next] != 0 {
            if let ghost = ring[Int(index[next]) - 1] {
                let home = Int(ghost.tag) & mask
                if (next - home) & mask >= (next - hole) & mask {
                    index[hole] = index[next]
                    hole = next
                }
            }
            next = (next + 1) & mask
        }
        index[hole] = 0
    }

    /// Whether the index leads to each ghost, and to nothing else: for tests.
    var isSound: Bool {
        let mask = index.count - 1
        let homes = index.map { $0 == 0 ? nil : ring[Int($0) - 1].map { Int($0.tag) & mask } }
        let places = index.filter { $0 != 0 }.map { Int($0) - 1 }.sorted()
        return LinearProbing.isKept(by: homes) && places == ring.indices.filter { ring[$0] != nil }
    }

    private mutating func grow() {
        let ghosts = (start..<end).map { ring[$0 & (ring.count - 1)] }
        ring = ghosts + Array(repeating: nil, count: max(16, ghosts.count))
        index = Array(repeating: 0, count: ring.count * 2)
        (start, end) = (0, ghosts.count)
        for (place, ghost) in ghosts.enumerated() {
            if let ghost { put(place, ghost.tag) }
        }
    }
}
