import Foundation
import TypedCache

/// Has values expire by the clock that the logs go by.
struct MonotonicClock: CacheClock {
    var now: Date { Date(timeIntervalSinceReferenceDate: Double(MonotonicTime.now.nanoseconds) / 1e9) }
}
