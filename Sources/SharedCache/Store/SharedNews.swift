import ArchiveStore
import Synchronization

/// The validity of one cache's near entries, for the threads that hear of changes and those that ask for them.
final class SharedNews: Sendable {
    private let validity: Mutex<NearValidity>

    init(window: Duration) { validity = Mutex(NearValidity(window: window)) }

    func changed(_ key: KeyDigest) { validity.withLock { $0.change(key) } }
    func changedAll() { validity.withLock { $0.changeAll() } }
    func lost() { validity.withLock { $0.lose() } }
    func verified(since start: ContinuousClock.Instant) { validity.withLock { $0.verify(since: start) } }
    func take(at now: ContinuousClock.Instant) -> ChangesByOthers { validity.withLock { $0.take(at: now) } }
}
