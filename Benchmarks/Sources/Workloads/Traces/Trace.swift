/// Keys in the order in which they were asked for.
///
/// Every key is a number below `keyCount`, every entry has size 1, and a miss inserts the key.
public struct Trace: Sendable {
    public let name: String
    public let requests: [UInt32]
    /// One more than the largest key.
    public let keyCount: Int

    public init(name: String, requests: [UInt32]) {
        self.name = name
        self.requests = requests
        keyCount = requests.max().map { Int($0) + 1 } ?? 0
    }

    /// This trace, and then another one, with its keys kept apart from this one's.
    func followed(byApart other: Trace) -> [UInt32] {
        requests + other.requests.map { $0 + UInt32(keyCount) }
    }

    /// A trace, another one, and the first again, which finds its old keys: does a policy adapt, twice?
    public static func chain(_ first: Trace, _ second: Trace) -> Trace {
        Trace(name: "chain", requests: first.followed(byApart: second) + first.requests)
    }
}
