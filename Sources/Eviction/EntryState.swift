/// The queues of a policy.
enum Queue: UInt32 {
    case small
    case main
}

/// The queue that an entry is in, or was evicted from, and how it was used, in four bytes.
struct EntryState {
    private static var queueShift: UInt32 { 31 }

    private var bits: UInt32

    init(_ queue: Queue, _ history: UseHistory) { bits = queue.rawValue << Self.queueShift | history.packed }

    var queue: Queue {
        get { bits >> Self.queueShift == Queue.small.rawValue ? .small : .main }
        set { self = EntryState(newValue, history) }
    }

    var history: UseHistory {
        get { UseHistory(packed: bits & ~(1 << Self.queueShift)) }
        set { self = EntryState(queue, newValue) }
    }
}
