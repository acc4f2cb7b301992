import Testing

@testable import Eviction

@Suite struct UseHistoryTests {
    private func history(uses: UInt8, span: UInt32) -> UseHistory { UseHistory().adding(uses: uses, after: span) }

    private func expected(_ uses: UInt8, _ span: UInt32, idle: UInt32 = 0) -> Double {
        history(uses: uses, span: span).expectedUses(idle: idle, count: 100)
    }

    @Test func nothingIsExpectedOfKeysThatWereNeverUsed() {
        #expect(expected(0, 0) == 0)
        #expect(expected(0, 500, idle: 3) == 0)
    }

    @Test func moreUsesInLessTimePromiseMore() {
        #expect(expected(2, 100) > expected(1, 100))
        #expect(expected(2, 100) > expected(2, 200))
    }

    @Test func aPauseCountsFromTheMeanOneOn() {
        #expect(expected(4, 400, idle: 100) == expected(4, 400))
        #expect(expected(4, 400, idle: 150) < expected(4, 400))
        #expect(expected(4, 400, idle: 300) < expected(4, 400, idle: 150))
    }

    /// Two keys with the same pause: the one that was used oftener in the same time has missed more uses.
    @Test func aPauseTellsMoreOfKeysThatWereUsedOften() {
        let lost = [2, 20].map { expected($0, 400, idle: 2_000) / expected($0, 400) }
        #expect(lost[1] < lost[0])
    }

    /// Oracle: the formula of the model, with the powers of the system.
    @Test func estimatesFollowTheModel() {
        // (1 + n) / (200 + T) of n / (n + 3 x^(n + 1)), x = (200 + T) / (200 + R), T = R + 150 - R / n.
        let (span, idle, uses) = (300.0, 150.0, 5.0)
        let all = 200 + span + idle - span / uses
        var power = 1.0
        for _ in 0..<6 { power *= all / (200 + span) }
        let model = (uses + 1) / all * (uses / (uses + 3 * power))
        #expect(abs(expected(5, 300, idle: 150) - model) < 1e-12)
    }

    @Test func manyUsesAreForgottenByHalf() {
        var history = history(uses: 30, span: 600)
        history.add(uses: 1, after: 20)
        #expect(history.uses == 31 && history.span == 620)
        history.add(uses: 3, after: 20)
        #expect(history.uses == 17 && history.span == 320)
    }

    @Test func longTimesAreKeptWithinTheirBits() {
        let long = history(uses: 1, span: .max)
        #expect(long.span == 1 << 26 - 1)
        #expect(long.adding(uses: 1, after: .max).span == 1 << 26 - 1)
        let copy = UseHistory(packed: long.packed)
        #expect(copy.uses == long.uses && copy.span == long.span)
    }
}
