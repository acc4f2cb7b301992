import ArchiveStore
import RedisWire

extension SharedStore {
    /// The engine's clock, which is asked for if it is not known yet: then this blocks.
    ///
    /// - Throws: `.unreachable` without an answer, `.closed`, `.forked`.
    func knownClock() throws(StoreError) -> EngineClock {
        if !offset.isKnown {
            try checkUsable()
            let question = offset.ask()
            let answer = try engine.ask([question.command], action: ClockOffset.reading)[0]
            bestEffort("without the right to ask, the clocks are taken to agree") { () throws(StoreError) in
                try offset.take(answer, to: question)
            }
        }
        return offset.clock
    }

    /// As ``knownClock()``, but suspends.
    ///
    /// - Parameter isUrgent: whether the caller waits for a shorter time.
    func knownClock(isUrgent: Bool) async throws(StoreError) -> EngineClock {
        if !offset.isKnown {
            try checkUsable()
            let question = offset.ask()
            let time = isUrgent ? engine.softTimeout(settings.timeouts) : nil
            let answers = try await engine.request([question.command], within: time, action: ClockOffset.reading)
            bestEffort("without the right to ask, the clocks are taken to agree") { () throws(StoreError) in
                try offset.take(answers[0], to: question)
            }
        }
        return offset.clock
    }
}
