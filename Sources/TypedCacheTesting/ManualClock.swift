import Foundation
import Synchronization
import TypedCache

/// A clock that stands still until a test moves it.
///
/// ```swift
/// let clock = ManualClock()
/// let settings = CacheSettings<City>(expiration: .after(.hours(1)), clock: clock)
/// let cities = try Cache(name: "cities", settings: settings)
/// clock.advance(by: .seconds(3_600))    // everything saved so far has expired
/// ```
public final class ManualClock: CacheClock {
    private let time: Mutex<Date>

    /// Makes a clock that stands still.
    ///
    /// - Parameter now: the moment that the clock shows at first; the first second of 2001 UTC by default.
    public init(now: Date = Date(timeIntervalSinceReferenceDate: 0)) { time = Mutex(now) }

    /// The moment that the clock was set to.
    public var now: Date { time.withLock { $0 } }

    /// Moves the clock forward, or back by a negative duration.
    public func advance(by duration: Duration) {
        time.withLock { $0 += duration / .seconds(1) }
    }

    /// Sets the clock to a moment.
    public func set(to date: Date) { time.withLock { $0 = date } }
}
