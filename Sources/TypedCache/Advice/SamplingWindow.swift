/// Bounds the time that sampling takes, however often a cache is used: in a window, every use of the sampled keys is
/// counted; if its uses came quickly, a pause follows, in which none are.
///
/// A window has so many uses that most keys of the sample come several times, so few distances reach over a pause. Keys
/// keep their order in the meantime.
struct SamplingWindow {
    /// The uses of a window.
    static let uses = 16_384
    /// From the beginning of a window to that of the next one at least: 1,024 uses a second, at some microseconds each,
    /// are less than a hundredth of a processor's time.
    static let leastSpan = Duration.seconds(16)

    private var startedAt: ContinuousClock.Instant
    private var left = Self.uses
    /// Whether uses are counted: not in a pause.
    private(set) var isOpen = true

    init(startedAt: ContinuousClock.Instant = .now) { self.startedAt = startedAt }

    /// Counts a use; returns how long the pause is that is due now, or `nil` for none.
    mutating func count(at now: ContinuousClock.Instant) -> Duration? {
        // Other threads may count a few more before the pause begins.
        guard left > 0 else { return nil }
        left -= 1
        guard left == 0 else { return nil }
        let span = now - startedAt
        if span < Self.leastSpan { return Self.leastSpan - span }
        self = SamplingWindow(startedAt: now)
        return nil
    }

    mutating func pause() { isOpen = false }
}
