/// Durations in the units of expirations and stale windows: `.after(.hours(6))`, `.servingStale(for: .days(1))`.
extension Duration {
    /// So many minutes; the longest duration if they are too many to be counted.
    public static func minutes(_ count: Int) -> Duration { count.units(ofSeconds: 60) }

    /// So many hours; the longest duration if they are too many to be counted.
    public static func hours(_ count: Int) -> Duration { count.units(ofSeconds: 3_600) }

    /// So many days of 24 hours; the longest duration if they are too many to be counted.
    public static func days(_ count: Int) -> Duration { count.units(ofSeconds: 86_400) }
}

extension Int {
    fileprivate func units(ofSeconds unit: Int) -> Duration {
        let (seconds, overflow) = multipliedReportingOverflow(by: unit)
        return .seconds(overflow ? (self < 0 ? .min : .max) : seconds)
    }
}
