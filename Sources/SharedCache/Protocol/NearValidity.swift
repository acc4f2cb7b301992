import ArchiveStore

/// The use of entries that are kept near: the changes in the engine that were heard of, and the time until which none
/// can have been missed. A value without I/O or clock.
struct NearValidity: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How long after a heartbeat was sent entries may be used without another one: the bound of staleness.
    let window: Duration

    private var changed: Set<KeyDigest> = []
    private var isEverythingChanged = true
    private var verifiedUntil: Instant?

    /// Above so many changed keys, everything counts as changed.
    static let mostKeys = 10_000

    init(window: Duration) { self.window = window }

    mutating func change(_ key: KeyDigest) {
        if isEverythingChanged { return }
        changed.insert(key)
        if changed.count > Self.mostKeys { changeAll() }
    }

    mutating func changeAll() {
        isEverythingChanged = true
        changed = []
    }

    /// Changes may be missed from now on.
    mutating func lose() {
        verifiedUntil = nil
        changeAll()
    }

    /// No change that was acknowledged before `start` was missed.
    mutating func verify(since start: Instant) { verifiedUntil = start + window }

    /// Whether entries near may be used.
    func isVerified(at now: Instant) -> Bool { verifiedUntil.map { now < $0 } ?? false }

    /// The changes since this was last called. While nothing is verified, that is everything, each time: what is read
    /// meanwhile may change unheard, and is not kept.
    mutating func take(at now: Instant) -> ChangesByOthers {
        guard isVerified(at: now) else {
            changeAll()
            return .everything
        }
        defer {
            isEverythingChanged = false
            changed = []
        }
        return isEverythingChanged ? .everything : .keys(Array(changed))
    }
}
