/// The keys whose leases a load is still to take, and how long it waits for those that other loads have. A value without
/// I/O or clock.
struct LeaseSearch {
    private static var pauses: (first: Duration, longest: Duration) { (.milliseconds(5), .milliseconds(100)) }

    /// In one order for all loads, so that none has a lease that another one waits for while it waits itself.
    private(set) var missing: ArraySlice<String>
    private let end: ContinuousClock.Instant
    private var pause = Self.pauses.first

    /// - Parameter time: how long leases are waited for in all.
    init(_ keys: some Sequence<String>, since start: ContinuousClock.Instant, atMost time: Duration) {
        missing = keys.sorted()[...]
        end = start + time
    }

    /// The leases of the first keys were taken.
    mutating func took(_ count: Int) {
        missing = missing.dropFirst(count)
        if count > 0 { pause = Self.pauses.first }
    }

    /// How long to wait before asking again for a lease that another load has; `nil` if the time is over.
    mutating func nextPause(at now: ContinuousClock.Instant) -> Duration? {
        let left = now.duration(to: end)
        guard left > .zero else { return nil }
        defer { pause = min(pause * 2, Self.pauses.longest) }
        return min(pause, left)
    }
}
