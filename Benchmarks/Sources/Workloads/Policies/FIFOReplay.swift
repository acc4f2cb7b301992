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
