/// Values by key, up to 1,024 of them: one more has the oldest go.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    static var limit: Int { 1_024 }

    private var values: [Key: (value: Value, number: UInt64)] = [:]
    /// The keys in the order in which they came; some of them were removed since.
    private var order: [(key: Key, number: UInt64)] = []
    /// How many at the front of `order` have gone.
    private var passed = 0
    private var last: UInt64 = 0

    var isEmpty: Bool { values.isEmpty }

    subscript(key: Key) -> Value? { values[key]?.value }

    /// Puts a value under a key. In the place of a former one it is as old as that.
    ///
    /// - Returns: the former value, and the oldest one where there is no room for it any longer.
    mutating func put(_ value: Value, _ key: Key) -> (former: Value?, oldest: (key: Key, value: Value)?) {
        if let former = values[key] {
            values[key] = (value, former.number)
            return (former.value, nil)
        }
        last += 1
        values[key] = (value, last)
        order.append((key, last))
        return (nil, values.count > Self.limit ? removeOldest() : nil)
    }

    mutating func remove(_ key: Key) -> Value? {
        guard let removed = values.removeValue(forKey: key)?.value else { return nil }
        if order.count > 4 * Self.limit { compact() }
        return removed
    }

    private mutating func removeOldest() -> (key: Key, value: Value)? {
        while passed < order.count {
            let (key, number) = order[passed]
            passed += 1
            guard values[key]?.number == number, let value = values.removeValue(forKey: key)?.value else {
                continue
            }
            if order.count > 4 * Self.limit { compact() }
            return (key, value)
        }
        return nil
    }

    private mutating func compact() {
        order = order[passed...].filter { values[$0.key]?.number == $0.number }
        passed = 0
    }
}
