/// The entry with the farthest next request goes: the most hits that are possible if every miss inserts.
///
/// Belady, "A study of replacement algorithms for a virtual-storage computer" (1966). Needs the whole trace.
public enum BeladyReplay {
    public static let name = "Belady"

    /// How many requests of a trace find their key.
    ///
    /// - Complexity: O(*n* log *n*) in the requests.
    public static func hits(in trace: Trace, capacity: Int) -> Int {
        let nextUses = nextUses(in: trace)
        /// The index of each key's next request; 0 if the key is not there, since no next request has index 0.
        var residents = [UInt32](repeating: 0, count: trace.keyCount)
        var count = 0
        var hits = 0
        // Holds outdated pairs too: their next request differs from the one in `residents`.
        var farthest = MaximumHeap<UInt64>()
        for (key, nextUse) in zip(trace.requests, nextUses) {
            if residents[Int(key)] != 0 {
                hits += 1
            } else if count < capacity {
                count += 1
            } else {
                evict(from: &farthest, &residents)
            }
            residents[Int(key)] = nextUse
            farthest.insert(UInt64(nextUse) << 32 | UInt64(key))
        }
        return hits
    }

    private static func evict(from farthest: inout MaximumHeap<UInt64>, _ residents: inout [UInt32]) {
        while let pair = farthest.removeMaximum() {
            let (nextUse, key) = (UInt32(pair >> 32), Int(UInt32(truncatingIfNeeded: pair)))
            guard residents[key] == nextUse else { continue }
            residents[key] = 0
            return
        }
    }

    /// For each request, which one asks for the same key next; `.max` if none does.
    private static func nextUses(in trace: Trace) -> [UInt32] {
        var last = [UInt32](repeating: .max, count: trace.keyCount)
        var nextUses = [UInt32](repeating: .max, count: trace.requests.count)
        for (index, key) in trace.requests.enumerated().reversed() {
            nextUses[index] = last[Int(key)]
            last[Int(key)] = UInt32(index)
        }
        return nextUses
    }
}

/// A binary heap that gives its largest element first.
struct MaximumHeap<Element: Comparable> {
    private var elements: [Element] = []

    mutating func insert(_ element: Element) {
        var index = elements.count
        elements.append(element)
        while index > 0, elements[(index - 1) / 2] < elements[index] {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    mutating func removeMaximum() -> Element? {
        guard let maximum = elements.first, let last = elements.popLast() else { return nil }
        guard !elements.isEmpty else { return maximum }
        elements[0] = last
        var index = 0
        while true {
            var largest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < elements.count && elements[largest] < elements[child] {
                largest = child
            }
            if largest == index { return maximum }
            elements.swapAt(index, largest)
            index = largest
        }
    }
}
