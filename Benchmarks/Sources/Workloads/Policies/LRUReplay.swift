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
