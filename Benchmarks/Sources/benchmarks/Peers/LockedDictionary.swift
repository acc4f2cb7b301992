import Synchronization

/// The least that a cache in memory can be: a dictionary behind a lock, without limits.
final class LockedDictionary<Value: Sendable>: Sendable {
    private let table: Mutex<[String: Value]>

    init(_ values: [String: Value]) {
        table = Mutex(values)
    }

    func value(forKey key: String) -> Value? {
        table.withLock { $0[key] }
    }

    func insert(_ value: Value, forKey key: String) {
        table.withLock { $0[key] = value }
    }
}
