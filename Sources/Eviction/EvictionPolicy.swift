/// Decides which entries a full tier evicts.
///
/// A policy is a plain value without locks: its owner guards it. It knows entries, not their keys' text, so that
/// finding an entry needs no policy: a hit marks its entry, and no more. It never runs user code, and hands back
/// the entries that it evicts, so that values are released outside any lock. The same calls and the same uses
/// lead to the same victims.
package protocol EvictionPolicy {
    /// - Parameters:
    ///   - count: the most entries, zero or more.
    ///   - cost: the most cost, zero or more.
    init(count: Int, cost: Int)

    var count: Int { get }
    /// The cost of all entries together.
    var cost: Int { get }

    /// Takes an entry in, if its cost is within the limit.
    ///
    /// - Parameter removed: receives the entries that are evicted to make room, or the entry itself if it is
    ///   refused: that one is the only one then.
    /// - Precondition: the entry was not taken in before, and none with its key is there.
    mutating func insert(_ entry: EvictionEntry, cost: Int, removed: inout [EvictionEntry])

    /// Takes an entry out that is there.
    mutating func remove(_ entry: EvictionEntry)

    /// Removes and returns every entry.
    mutating func removeAll() -> [EvictionEntry]

    /// Evicts the least useful entries until no more than so many are left, of no more than so much cost.
    mutating func trim(toCount count: Int, cost: Int, removed: inout [EvictionEntry])
}
