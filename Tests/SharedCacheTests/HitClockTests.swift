import Testing

@testable import SharedCache

@Suite struct HitClockTests {
    /// The time of an instant lies between times that were read before and after it, as far as a double tells them.
    @Test func agreesWithContinuousClock() {
        let clock = HitClock()
        for _ in 0..<100 {
            let before = HitClock.now
            let instant = ContinuousClock.now
            let after = HitClock.now
            let time = clock.nanoseconds(instant)
            #expect(time <= after + 1_000)
            // Too early by the time between two readings at the start, which a busy machine may make long.
            #expect(time >= before - 1_000_000_000)
            #expect(abs(clock.nanoseconds(instant + .seconds(2)) - time - 2_000_000_000) <= 2)
            #expect(abs(clock.nanoseconds(instant - .seconds(3_600)) - time + 3_600_000_000_000) <= 2)
        }
    }
}
