import Synchronization

/// The state of tracking of a cluster's nodes, for threads that hear of changes and threads that make calls.
final class ClusterTrackers: Sendable {
    private let observer: @Sendable (TrackingEvent) -> Void
    /// The observer is called under it, so that news come in order.
    private let tracking: Mutex<ClusterTracking>
    private let topology = Mutex<ClusterTopology?>(nil)
    /// The nodes that count; of its own, for observers ask for it.
    private let counted = Mutex<Set<RedisEndpoint>>([])
    private let lastNumber = Atomic<Int>(0)

    init(window: Duration, observer: @escaping @Sendable (TrackingEvent) -> Void) {
        self.observer = observer
        tracking = Mutex(ClusterTracking(window: window))
    }

    var isWhole: Bool { tracking.withLock { $0.isWhole } }

    func hearing(of node: RedisEndpoint, at now: ContinuousClock.Instant) -> ClusterHearing {
        tracking.withLock { $0.hearing(of: node, at: now) }
    }

    func nextNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    func mark(of node: RedisEndpoint, _ connection: Int) -> ClusterTracking.Mark? {
        tracking.withLock { $0.mark(of: node, connection) }
    }

    /// Changes the state, and tells the news.
    func tell(_ body: (inout ClusterTracking) -> [TrackingEvent]) {
        tracking.withLock { tracking in
            let events = body(&tracking)
            if events.isEmpty { return }
            let nodes = tracking.counted
            counted.withLock { $0 = nodes }
            for event in events { observer(event) }
        }
    }

    /// Whether the master of a key tells of its changes.
    func isHeard(_ key: some Collection<UInt8>) -> Bool {
        guard let master = topology.withLock({ $0?.master(of: HashSlot(ofKey: key)) }) else { return false }
        return counted.withLock { $0.contains(master) }
    }

    /// Takes a topology that a node has described. It is compared with the one before it that was: refusals may have moved
    /// slots in the copy that commands go by.
    func take(_ new: ClusterTopology) {
        let former = topology.withLock { topology in
            defer { topology = new }
            return topology
        }
        tell { $0.set(new.masters, losers: former?.losers(in: new) ?? []) }
    }

    /// A text that is in a slot of a node, by chance another one each time: a slot that is on its way to another node
    /// has its keys at either. For a node without slots, which answers for no key, it is empty.
    func tag(of node: RedisEndpoint) -> String {
        guard let topology = topology.withLock({ $0 }), topology.slotCount(of: node) > 0 else { return "" }
        var number = UInt32.random(in: 0 ... .max)
        // A node with a single slot is found by one text in 16,384.
        for _ in 0..<200_000 {
            let tag = String(number, radix: 36)
            if topology.master(of: HashSlot(ofKey: tag.utf8)) == node { return tag }
            number &+= 1
        }
        return ""
    }
}
