import Foundation

/// `ContinuousClock` in nanoseconds. Each hit in memory reads it: an `Instant` takes a call of the runtime, and
/// arithmetic of 128 bits, three times as long.
struct HitClock: Sendable {
    private let start: Int64
    private let startInstant: ContinuousClock.Instant

    init() {
        // In this order: an instant becomes a time that is too early, if at all.
        start = Self.now
        startInstant = .now
    }

    static var now: Int64 {
        var time = timespec()
        #if canImport(Darwin)
            clock_gettime(CLOCK_MONOTONIC, &time)
        #else
            // Goes on while the machine sleeps, as Darwin's does.
            clock_gettime(CLOCK_BOOTTIME, &time)
        #endif
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// The time of an instant.
    func nanoseconds(_ instant: ContinuousClock.Instant) -> Int64 {
        // A shift costs less than a division of 128 bits: units of 2³⁰ attoseconds.
        let units = startInstant.duration(to: instant).attoseconds >> 30
        return start + Int64(Double(Int64(truncatingIfNeeded: units)) * 1.073_741_824)
    }
}
