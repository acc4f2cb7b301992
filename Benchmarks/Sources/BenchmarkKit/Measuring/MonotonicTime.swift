import Foundation

/// A clock that all threads share and that is never set.
package enum MonotonicTime {
    package static func nanoseconds() -> Double { nanoseconds(of: CLOCK_MONOTONIC) }

    /// The time that processors have worked for this process, in all of its threads.
    package static func processorNanoseconds() -> Double { nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID) }

    private static func nanoseconds(of clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
