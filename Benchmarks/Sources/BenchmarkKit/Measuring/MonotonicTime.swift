import Foundation

/// A clock that all threads share and that is never set.
package enum MonotonicTime {
    package static func nanoseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}
