import Foundation

/// A moment that is the same for all processes of this machine, however its clock is set.
struct MonotonicTime: Comparable, Hashable {
    let nanoseconds: UInt64

    /// Before everything.
    static let start = MonotonicTime(nanoseconds: 0)

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    func advanced(by duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = duration.components
        return MonotonicTime(
            nanoseconds: nanoseconds + UInt64(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        )
    }

    /// How long it is from here to `other`, which is not before.
    func duration(to other: MonotonicTime) -> Duration {
        .nanoseconds(Int64(clamping: other.nanoseconds - min(nanoseconds, other.nanoseconds)))
    }

    /// Stands still until then; not at all if that has passed, shorter if a signal comes.
    func wait() {
        let duration = MonotonicTime.now.duration(to: self)
        usleep(
            UInt32(
                clamping: duration.components.seconds * 1_000_000 + duration.components.attoseconds
                    / 1_000_000_000_000
            )
        )
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
}
