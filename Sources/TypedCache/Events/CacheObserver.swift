/// Receives the events and operations of a cache as they happen: for metrics, tracing or signposts.
///
/// ```swift
/// struct Metrics: CacheObserver {
///     func cache(_ name: String, did event: CacheEvent) { counters.increment(name, event.kind) }
///     func cache(_ name: String, willBegin operation: CacheOperation) -> Span? { tracer.span(operation) }
///     func cache(_ name: String, didEnd operation: CacheOperation, _ token: Span?) { token?.end() }
/// }
/// ```
///
/// All methods are called on the thread that does the work, with no lock held: return quickly. That holds for hits in
/// memory, too. An observer must not use the cache that it observes.
public protocol CacheObserver: Sendable {
    /// The value that an operation's beginning hands to its end: a moment, or a span of a tracing library. `Never` for
    /// an observer without one.
    associatedtype Token: Sendable = Never
    /// The events that ``cache(_:did:)`` is called for; ``ObservedEvents/all`` by default. Asked once, when a cache is opened.
    var observedEvents: ObservedEvents { get }
    /// An event happened.
    func cache(_ name: String, did event: CacheEvent)
    /// Work that may take a while begins.
    ///
    /// - Returns: a token for ``cache(_:didEnd:_:)-(_,CacheOperation,_)``; `nil` by default.
    func cache(_ name: String, willBegin operation: CacheOperation) -> Token?
    /// The work that returned this token has ended, however it did.
    func cache(_ name: String, didEnd operation: CacheOperation, _ token: Token?)
}

extension CacheObserver {
    public var observedEvents: ObservedEvents { .all }
    public func cache(_ name: String, did event: CacheEvent) {}
    public func cache(_ name: String, willBegin operation: CacheOperation) -> Token? { nil }
    public func cache(_ name: String, didEnd operation: CacheOperation, _ token: Token?) {}
}

/// The events that a ``CacheObserver`` receives.
public struct ObservedEvents: Sendable, Hashable {
    private enum Base { case all, losses, failures, none }

    private let base: Base

    /// Every event, hits in memory included.
    public static let all = ObservedEvents(base: .all)
    /// Failures that no call throws, producers that threw, and entries that were found damaged: the events that have a
    /// ``CacheEvent/cause``. A hit, a miss or a save takes no longer than without an observer of events.
    public static let failures = ObservedEvents(base: .failures)
    /// Failures, and entries that a cache loses by itself: expired, or evicted with nothing of them left. A hit, a miss or a
    /// save takes no longer than without an observer of events.
    package static let losses = ObservedEvents(base: .losses)
    /// None, for an observer of operations. A hit in memory takes no longer than without an observer.
    public static let none = ObservedEvents(base: .none)
}

/// Work of a cache that may take a while. New kinds may be added: always keep a `default` when switching.
public struct CacheOperation: Sendable, Hashable, CustomStringConvertible {
    private enum Base: String, CaseIterable {
        case read, write, remove, load, sweep, remoteRead, remoteWrite, lease
    }

    private let base: Base

    /// Reading an entry from disk.
    public static let read = CacheOperation(base: .read)
    /// Writing an entry to disk.
    public static let write = CacheOperation(base: .write)
    /// Removing one or all entries from disk.
    public static let remove = CacheOperation(base: .remove)
    /// A producer's run.
    public static let load = CacheOperation(base: .load)
    /// Looking for expired entries.
    public static let sweep = CacheOperation(base: .sweep)

    /// Reading an entry from a server, or comparing one with it.
    public static let remoteRead = CacheOperation(base: .remoteRead)
    /// Writing an entry to a server.
    public static let remoteWrite = CacheOperation(base: .remoteWrite)
    /// Taking the leases of keys that are loaded, and waiting for leases that other machines have.
    public static let lease = CacheOperation(base: .lease)

    /// All kinds there are.
    static var all: [CacheOperation] { Base.allCases.map(CacheOperation.init(base:)) }

    /// The operation's name: `read`, `write`, `remove`, `load`, `sweep`, `remoteRead`, `remoteWrite` or `lease`.
    public var description: String { base.rawValue }
}
