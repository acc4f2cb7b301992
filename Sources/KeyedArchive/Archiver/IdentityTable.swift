/// Which objects have a place in the archive already, by identity and never by equality.
///
/// Keeps each object alive, so that an address stands for one object as long as the table lives.
///
/// A table of its own: a dictionary would hash the address with SipHash, and hold a second reference to each object.
/// Most archives have fewer objects than a scan finds faster than any hash.
struct IdentityTable: ~Copyable {
    struct Entry {
        let object: AnyObject
        let uid: UInt32
        /// Whether the object was met only conditionally, so that its place is still empty.
        var isReserved: Bool
        /// Whether the object is being encoded now: a reference to it from inside closes a cycle.
        var isOpen = false
    }

    private var entries: [Entry] = []
    /// Entry index + 1 by address, 0 for empty; a power of two of them, at least twice as many as entries. Empty
    /// while a scan is faster.
    private var buckets = RawBuffer<UInt32>(capacity: 32)
    private static let scanLimit = 8

    mutating func removeAll() {
        if entries.count <= Self.scanLimit {
            // A few are taken out one by one in half of the time.
            while !entries.isEmpty { entries.removeLast() }
        } else {
            entries.removeAll(keepingCapacity: true)
        }
        buckets.truncate(to: 0)
    }

    func find(_ object: AnyObject) -> Int? {
        if buckets.isEmpty { return entries.firstIndex { $0.object === object } }
        let mask = buckets.count &- 1
        var at = Self.hash(object) & mask
        while buckets[at] != 0 {
            let index = Int(buckets[at]) &- 1
            if entries[index].object === object { return index }
            at = (at &+ 1) & mask
        }
        return nil
    }

    subscript(position: Int) -> Entry {
        get { entries[position] }
        _modify { yield &entries[position] }
    }

    /// Adds an object that is not there yet, and returns its position.
    @discardableResult
    mutating func add(_ object: AnyObject, uid: UInt32, isReserved: Bool) -> Int {
        entries.append(Entry(object: object, uid: uid, isReserved: isReserved))
        if entries.count > Self.scanLimit {
            if entries.count * 2 > buckets.count {
                rehash(to: max(32, buckets.count * 2))
            } else {
                insert(entries.count - 1)
            }
        }
        return entries.count - 1
    }

    private mutating func rehash(to count: Int) {
        buckets.truncate(to: 0)
        buckets.append(repeating: 0, count: count)
        for index in entries.indices { insert(index) }
    }

    private mutating func insert(_ index: Int) {
        let mask = buckets.count &- 1
        var at = Self.hash(entries[index].object) & mask
        while buckets[at] != 0 { at = (at &+ 1) & mask }
        buckets[at] = UInt32(index + 1)
    }

    /// For tests, checks the table: a search finds each object at its position, and ends for every other object.
    func holdsTogether() -> Bool {
        for index in entries.indices where find(entries[index].object) != index { return false }
        if buckets.isEmpty { return entries.count <= Self.scanLimit }
        var usedCount = 0
        for at in 0..<buckets.count where buckets[at] != 0 { usedCount += 1 }
        return usedCount == entries.count && buckets.count & (buckets.count - 1) == 0
            && buckets.count >= 2 * entries.count
    }

    /// Input cannot choose addresses, so the hash needs no seed. The low bits of addresses are all alike.
    private static func hash(_ object: AnyObject) -> Int {
        let address = UInt64(UInt(bitPattern: ObjectIdentifier(object)))
        return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 32)
    }
}
