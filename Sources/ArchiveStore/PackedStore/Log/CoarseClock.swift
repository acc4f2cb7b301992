import Foundation

/// A clock that takes a few nanoseconds to read and advances every few milliseconds.
enum CoarseClock {
    /// In nanoseconds since some time.
    static func now(_ layer: FileLayer) -> UInt64 {
        if let world = layer.world { return world.now }
        #if canImport(Glibc) || canImport(Musl)
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
            return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
        #else
            return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)
        #endif
    }
}
