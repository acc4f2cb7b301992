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
