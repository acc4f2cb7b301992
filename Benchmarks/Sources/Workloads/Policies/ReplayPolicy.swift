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
