import ArchiveStore

extension SharedStore {
    /// The engine's clock, which is asked for if it is not known yet: then this blocks.
    ///
    /// - Throws: `.unreachable` without an answer, `.closed`, `.forked`.
    func knownClock() throws(StoreError) -> EngineClock {
        if !offset.isKnown {
            try checkUsable()
            try engine.read(offset)
        }
        return offset.clock
    }

    /// As ``knownClock()``, but suspends.
    ///
    /// - Parameter isUrgent: whether the caller waits for a shorter time.
    func knownClock(isUrgent: Bool) async throws(StoreError) -> EngineClock {
        if !offset.isKnown {
            try checkUsable()
            try await engine.read(offset, within: isUrgent ? engine.softTimeout(settings.timeouts) : nil)
        }
        return offset.clock
    }
}
