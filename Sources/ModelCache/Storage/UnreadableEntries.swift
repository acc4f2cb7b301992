import Synchronization
import TypedCache

/// Reports stored entries that cannot be read, and count as missing: each once, for it may be read repeatedly. As their
/// cache's observer it also reports damaged entries, which the cache removes when it finds them, and hears of lost ones.
final class UnreadableEntries: CacheObserver {
    typealias Subject = ModelCacheError.Subject

    private let told = Mutex(BoundedTable<String, Void>())
    private let kind: String
    private let subject: @Sendable (String) -> Subject?
    private let report: @Sendable (ModelCacheError) -> Void
    private let lost: (@Sendable (String) -> Void)?

    var observedEvents: ObservedEvents { lost == nil ? .failures : .losses }

    /// - Parameters:
    ///   - kind: an entry whose key is unknown, or says nothing: "a stored list".
    ///   - lost: is given the keys of entries that the cache loses; `nil` for a cache that loses no entry.
    ///   - subject: the model or list with a key; `nil`: the key says nothing.
    init(
        _ kind: String,
        _ report: @escaping @Sendable (ModelCacheError) -> Void,
        lost: (@Sendable (String) -> Void)? = nil,
        subject: @escaping @Sendable (String) -> Subject? = { _ in nil }
    ) {
        self.kind = kind
        self.report = report
        self.lost = lost
        self.subject = subject
    }

    /// Tells of an entry that is there, but cannot be decoded.
    func tell(_ key: String, because cause: any Error) {
        if told.withLock({ $0.put((), key).former }) == nil { tell(.decodingFailed, key, because: cause) }
    }

    func cache(_ name: String, did event: CacheEvent) {
        if event.kind == .removed, let key = event.key { lost?(key) }
        guard event.reason == .corrupted, let cause = event.cause else { return }
        tell(.storage, event.key, because: cause)
    }

    private func tell(_ code: ModelCacheError.Code, _ key: String?, because cause: any Error) {
        let subject = key.flatMap(subject)
        let entry = subject.map { "the stored \($0)" } ?? kind
        let fault = code == .storage ? "is damaged" : "cannot be read"
        report(ModelCacheError(code, "\(entry) \(fault), and counts as missing", of: subject, cause: cause))
    }
}
