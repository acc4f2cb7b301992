/// The keys whose leases a load is still to take, and how long it waits for leases of other loads. A value without
/// I/O or clock.
struct LeaseSearch {
    private static var pauses: (first: Duration, longest: Duration) { (.milliseconds(5), .milliseconds(50)) }
    /// How many durations of a lease a load waits for one that is extended.
    private static var longestWait: Int { 60 }

    /// In one order for all loads, so that none has a lease that another one waits for while it waits itself.
    private(set) var missing: ArraySlice<String>
    /// The keys whose fresh entries the load uses.
    private(set) var unseen: Set<String>
    private let start: ContinuousClock.Instant
    private let duration: Duration
    private var pause = Self.pauses.first

    /// - Parameter duration: of a lease that is not extended.
    init(_ keys: some Sequence<String>, since start: ContinuousClock.Instant, duration: Duration) {
        missing = keys.sorted()[...]
        unseen = Set(missing)
        self.start = start
        self.duration = duration
    }

    /// Answers for the first keys have come.
    mutating func answered(_ count: Int) {
        missing = missing.dropFirst(count)
        if count > 0 { pause = Self.pauses.first }
    }

    /// The fresh entries of keys are of no use to the load, which needs leases all the same.
    mutating func insist(on keys: [String]) {
        if keys.isEmpty { return }
        unseen.subtract(keys)
        missing = (missing + keys).sorted()[...]
    }

    /// How long to wait before asking again for a lease that another load has; `nil` if the time is over.
    ///
    /// - Parameter mayBeCircle: whether the other load may wait for this one: then it waits no longer than a lease lasts by
    ///   itself. Otherwise the other load's machine extends the lease only while its producer runs.
    mutating func nextPause(at now: ContinuousClock.Instant, mayBeCircle: Bool) -> Duration? {
        // A load that takes leases out of order may be part of a circle, too.
        let isInOrder = !mayBeCircle && missing.first.map { unseen.contains($0) } ?? true
        let end = start + duration * (isInOrder ? Self.longestWait : 1)
        let left = now.duration(to: end)
        guard left > .zero else { return nil }
        defer { pause = min(pause * 2, Self.pauses.longest) }
        return min(pause, left)
    }
}
