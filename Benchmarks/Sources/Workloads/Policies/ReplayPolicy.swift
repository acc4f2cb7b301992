/// An eviction policy as it is replayed over a trace: entries of size 1, no values.
public protocol ReplayPolicy {
    static var name: String { get }

    /// - Parameters:
    ///   - capacity: the most entries; at least 1.
    ///   - keyCount: one more than the largest key.
    init(capacity: Int, keyCount: Int)

    /// Asks for a key, which is inserted if it is not there.
    ///
    /// - Returns: whether it was there.
    mutating func request(_ key: Int) -> Bool
}

extension ReplayPolicy {
    /// How many requests of a trace find their key.
    public static func hits(in trace: Trace, capacity: Int) -> Int {
        var policy = Self(capacity: capacity, keyCount: trace.keyCount)
        return trace.requests.count { policy.request(Int($0)) }
    }
}

/// The entry that was asked for longest ago goes.
public struct LRUReplay: ReplayPolicy {
    public static let name = "LRU"

    private let capacity: Int
    private var list: KeyList

    public init(capacity: Int, keyCount: Int) {
        self.capacity = capacity
        list = KeyList(keyCount: keyCount)
    }

    public mutating func request(_ key: Int) -> Bool {
        let isHit = list.contains(key)
        if isHit {
            list.remove(key)
        } else if list.count >= capacity, let oldest = list.oldest {
            list.remove(oldest)
        }
        list.insert(key)
        return isHit
    }
}

/// The entry that was inserted longest ago goes.
public struct FIFOReplay: ReplayPolicy {
    public static let name = "FIFO"

    private let capacity: Int
    private var list: KeyList

    public init(capacity: Int, keyCount: Int) {
        self.capacity = capacity
        list = KeyList(keyCount: keyCount)
    }

    public mutating func request(_ key: Int) -> Bool {
        if list.contains(key) { return true }
        if list.count >= capacity, let oldest = list.oldest { list.remove(oldest) }
        list.insert(key)
        return false
    }
}

/// A hand goes from the oldest entry to the newest, clears marks of hits, and takes the first without one.
///
/// Algorithm 1 of Zhang et al., "SIEVE is Simpler than LRU" (NSDI 2024).
public struct SieveReplay: ReplayPolicy {
    public static let name = "SIEVE"

    private let capacity: Int
    private var list: KeyList
    private var isVisited: [Bool]
    private var hand: Int?

    public init(capacity: Int, keyCount: Int) {
        self.capacity = capacity
        list = KeyList(keyCount: keyCount)
        isVisited = Array(repeating: false, count: keyCount)
    }

    public mutating func request(_ key: Int) -> Bool {
        if list.contains(key) {
            isVisited[key] = true
            return true
        }
        if list.count >= capacity { evict() }
        isVisited[key] = false
        list.insert(key)
        return false
    }

    private mutating func evict() {
        guard let oldest = list.oldest else { return }
        var candidate = hand ?? oldest
        while isVisited[candidate] {
            isVisited[candidate] = false
            candidate = list.next(after: candidate) ?? oldest
        }
        hand = list.next(after: candidate)
        list.remove(candidate)
    }
}

/// Keys in a doubly linked list over arrays: the newest first, any removed in O(1).
struct KeyList {
    private static let none: Int32 = -1

    /// Towards the newest, and towards the oldest.
    private var newer: [Int32]
    private var older: [Int32]
    private var contained: [Bool]
    private var first = Self.none
    private var last = Self.none
    private(set) var count = 0

    init(keyCount: Int) {
        newer = Array(repeating: Self.none, count: keyCount)
        older = newer
        contained = Array(repeating: false, count: keyCount)
    }

    var oldest: Int? { last == Self.none ? nil : Int(last) }

    func contains(_ key: Int) -> Bool { contained[key] }

    /// The key that was inserted next after `key`; `nil` if it is the newest.
    func next(after key: Int) -> Int? { newer[key] == Self.none ? nil : Int(newer[key]) }

    /// - Precondition: the key is not there.
    mutating func insert(_ key: Int) {
        older[key] = first
        newer[key] = Self.none
        if first == Self.none { last = Int32(key) } else { newer[Int(first)] = Int32(key) }
        first = Int32(key)
        contained[key] = true
        count += 1
    }

    /// - Precondition: the key is there.
    mutating func remove(_ key: Int) {
        let (before, after) = (newer[key], older[key])
        if before == Self.none { first = after } else { older[Int(before)] = after }
        if after == Self.none { last = before } else { newer[Int(after)] = before }
        contained[key] = false
        count -= 1
    }
}
