/// Decides what a full memory tier gives up.
///
/// A policy is a plain value without locks: whoever holds it guards it. It never runs user code, and hands
/// back what it gives up, so that the values' deinitializers run outside any lock.
protocol EvictionPolicy<Key, Value> {
    associatedtype Key: Hashable
    associatedtype Value

    /// - Parameters:
    ///   - count: the most entries, zero or more.
    ///   - cost: the most cost, zero or more.
    init(count: Int, cost: Int)

    var count: Int { get }
    /// The cost of all entries together.
    var cost: Int { get }

    /// The value for a key; counts as a use of it.
    mutating func value(forKey key: Key) -> Value?

    /// Puts a value in, in place of what was there.
    ///
    /// One whose cost is above the limit is not taken: then nothing is there for its key any more.
    ///
    /// - Parameter removed: receives every value that is given up, the one that was there and a refused one
    ///   included.
    /// - Returns: how many other entries were given up to make room.
    mutating func insert(_ value: Value, forKey key: Key, cost: Int, removed: inout [Value]) -> Int

    mutating func remove(forKey key: Key) -> Value?

    /// Removes and returns every value.
    mutating func removeAll() -> [Value]
}
