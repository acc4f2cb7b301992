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
