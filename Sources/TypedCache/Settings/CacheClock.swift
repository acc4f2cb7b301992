import Foundation

/// Where a cache takes the time from; tests move it by hand.
public protocol CacheClock: Sendable {
    /// The present moment. Called on any thread.
    var now: Date { get }
}

/// The system's time of day.
public struct SystemClock: CacheClock {
    /// The system's clock.
    public init() {}
    /// The system's time of day, which people and servers may set back or forward.
    public var now: Date { Date() }
}
