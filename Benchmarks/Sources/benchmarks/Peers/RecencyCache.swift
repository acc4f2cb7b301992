import Synchronization

/// A least-recently-used cache behind one lock.
final class RecencyCache<Value: Sendable>: Sendable {
    private let table: Mutex<RecencyTable<Value>>

    init(capacity: Int) {
        table = Mutex(RecencyTable(capacity: capacity))
    }

    func value(forKey key: String) -> Value? {
        table.withLock { $0.value(forKey: key) }
    }

    func insert(_ value: Value, forKey key: String) {
        table.withLock { $0.insert(value, forKey: key) }
    }
}
