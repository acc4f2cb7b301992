import ArchiveStore

/// The use of entries that are kept near: the changes in the engine that were heard of, and the time until which none
/// can have been missed. A value without I/O or clock.
struct NearValidity: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// How near entries come to be doubted.
    enum Rule: Sendable {
        /// The engine tells of changes: entries may be used for so long after a heartbeat was sent.
        case heard(window: Duration)
        /// Nothing is told: entries may be used for so long.
        case age(Duration)
    }

    private enum All {
        case known
        /// Anything may have been changed, and may be compared.
        case doubtful
        /// Anything may have been changed, and nothing is still the same.
        case changed
    }

    private let rule: Rule
    /// Grows with each change that there is to tell of.
    private(set) var revision: UInt64 = 1
    private var changed: Set<KeyDigest> = []
    /// Those that this process may have changed itself.
    private var doubtful: Set<KeyDigest> = []
    private var all = All.doubtful
    /// Until when entries may be used.
    private(set) var end: Instant?

    /// Above so many changed keys, everything is doubtful.
    static let mostKeys = 10_000

    init(_ rule: Rule) { self.rule = rule }

    init(window: Duration) { self.init(.heard(window: window)) }

    mutating func change(_ key: KeyDigest) {
        revision += 1
        guard case .known = all else { return }
        changed.insert(key)
        limit()
    }

    /// A key that a call of this process may have changed, which knows the new entry.
    mutating func doubt(_ key: KeyDigest) {
        revision += 1
        guard case .known = all else { return }
        doubtful.insert(key)
        limit()
    }

    private mutating func limit() {
        if changed.count + doubtful.count > Self.mostKeys { doubtAll() }
    }

    mutating func changeAll() {
        revision += 1
        all = .changed
        changed = []
        doubtful = []
    }

    mutating func doubtAll() {
        revision += 1
        if case .changed = all { return }
        all = .doubtful
        changed = []
        doubtful = []
    }

    /// Changes may be missed from now on.
    mutating func lose() {
        guard case .heard = rule else { return }
        end = nil
        doubtAll()
    }

    /// No change that was acknowledged before `start` was missed.
    mutating func verify(since start: Instant) {
        if case .heard(let window) = rule { end = start + window }
    }

    /// Whether entries near may be used.
    func isVerified(at now: Instant) -> Bool { end.map { now < $0 } ?? false }

    /// The changes since this was last called. While nothing is verified, everything is doubtful, each time, and once
    /// more when it is: entries that are read in the meantime may change unheard.
    mutating func take(at now: Instant) -> ChangesByOthers {
        var isHeard = true
        if !isVerified(at: now) {
            if case .known = all { all = .doubtful }
            switch rule {
            case .heard: isHeard = false
            // Entries that are read from now on are younger.
            case .age(let age): end = now + age
            }
        }
        defer {
            all = isHeard ? .known : .doubtful
            changed = []
            doubtful = []
        }
        switch all {
        case .changed: return .everything
        case .doubtful: return .doubts
        case .known where doubtful.isEmpty: return .keys(Array(changed))
        case .known:
            return .keysAndDoubts(changed: Array(changed), doubtful: Array(doubtful.subtracting(changed)))
        }
    }
}
