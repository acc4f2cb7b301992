/// The sampled keys in the order of their last use, and how many bytes lie between two uses of a key.
///
/// A cache that evicts the least recently used entry hits where the bytes used since the key's last use, its own
/// included, fit: so one pass gives the hits for every size.
///
/// The order is kept in a Fenwick tree over places, one for each use: it has the bytes of each key at the place of the
/// key's last use, and gives the bytes after a place in O(log *n*). Places are given out again when they are used up.
struct ReuseDistances {
    private struct Key {
        var place: Int32
        var byteCount: Int
    }

    /// At most so many keys are in the sample.
    private let mostKeys: Int
    /// Keys that are further apart than this many bytes are forgotten.
    private let largestSize: Double
    private(set) var rate: SamplingRate
    private var keys: [UInt64: Key] = [:]
    /// The hash of the key whose last use has a place.
    private var hashes: [UInt64]
    /// Byte counts at places, summed up as a Fenwick tree.
    private var sums: [Int]
    private var next = 0
    private var oldest = 0
    /// The bytes of all keys.
    private(set) var byteCount = 0
    /// The bytes of keys that are sampled at a number of steps and at no more.
    private var byteCounts = [Int](repeating: 0, count: SamplingRate.mostSteps + 1)

    init(mostKeys: Int, largestSize: Double = .infinity, rate: SamplingRate = SamplingRate()) {
        self.mostKeys = max(1, mostKeys)
        self.largestSize = largestSize
        self.rate = rate
        let places = self.mostKeys + max(1, self.mostKeys / 2)
        hashes = Array(repeating: 0, count: places)
        sums = Array(repeating: 0, count: places + 1)
        keys.reserveCapacity(self.mostKeys)
    }

    var count: Int { keys.count }

    /// The share of all bytes that the keys of a rate have, as far as the known keys tell; `nil` if none is known.
    func share(of rate: SamplingRate) -> Double? {
        let sampled = byteCounts[rate.steps...].reduce(0, +)
        guard sampled > 0 else { return nil }
        return Double(sampled) / Double(byteCount) * self.rate.share
    }

    /// The bytes between the key's last use and now, its own included; `nil` if it was not used before.
    func distance(_ hash: UInt64) -> Double? {
        guard let key = keys[hash] else { return nil }
        let behind = byteCount - sum(through: Int(key.place))
        return Double(behind) / rate.share + Double(key.byteCount)
    }

    /// Makes a key the one that was used last.
    ///
    /// - Parameter byteCount: one or more.
    mutating func use(_ hash: UInt64, byteCount: Int) {
        remove(hash)
        if next == hashes.count { renumber() }
        keys[hash] = Key(place: Int32(next), byteCount: byteCount)
        hashes[next] = hash
        add(byteCount, at: next)
        byteCounts[SamplingRate.steps(of: hash)] += byteCount
        next += 1
        if keys.count > mostKeys { shrink() }
    }

    mutating func remove(_ hash: UInt64) {
        guard let key = keys.removeValue(forKey: hash) else { return }
        add(-key.byteCount, at: Int(key.place))
        byteCounts[SamplingRate.steps(of: hash)] -= key.byteCount
    }

    mutating func removeAll() {
        keys.removeAll(keepingCapacity: true)
        for index in sums.indices { sums[index] = 0 }
        for index in byteCounts.indices { byteCounts[index] = 0 }
        (next, oldest, byteCount) = (0, 0, 0)
    }

    /// Forgets keys beyond the largest size of interest, or lowers the rate if that is not enough.
    private mutating func shrink() {
        while oldest < next, Double(byteCount) / rate.share > largestSize {
            let hash = hashes[oldest]
            if let key = keys[hash], Int(key.place) == oldest { remove(hash) }
            oldest += 1
        }
        while keys.count > mostKeys, rate.steps < SamplingRate.mostSteps {
            rate = rate.lower
            for hash in keys.keys where !rate.samples(hash) { remove(hash) }
        }
    }

    // MARK: Places

    private mutating func renumber() {
        var order: [(hash: UInt64, byteCount: Int)] = []
        order.reserveCapacity(keys.count)
        for place in oldest..<next {
            if let key = keys[hashes[place]], Int(key.place) == place {
                order.append((hashes[place], key.byteCount))
            }
        }
        for index in sums.indices { sums[index] = 0 }
        (next, oldest, byteCount) = (0, 0, 0)
        for (hash, byteCount) in order {
            keys[hash]?.place = Int32(next)
            hashes[next] = hash
            add(byteCount, at: next)
            next += 1
        }
    }

    private mutating func add(_ amount: Int, at place: Int) {
        byteCount += amount
        var index = place + 1
        while index < sums.count {
            sums[index] += amount
            index += index & -index
        }
    }

    private func sum(through place: Int) -> Int {
        var sum = 0
        var index = place + 1
        while index > 0 {
            sum += sums[index]
            index -= index & -index
        }
        return sum
    }
}
