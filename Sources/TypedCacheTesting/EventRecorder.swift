import Foundation
import Synchronization
import TypedCache

/// An observer that keeps every event, in the order in which they were told.
///
/// ```swift
/// let recorder = EventRecorder()
/// let cities = try Cache<City>(name: "cities", settings: CacheSettings(observer: recorder))
/// try cities.fetch(forKey: "1")
/// #expect(recorder.events.map(\.kind) == [.missed])
/// ```
public final class EventRecorder: CacheObserver {
    private struct Recorded {
        var events: [CacheEvent] = []
        /// Grows whenever events are forgotten.
        var generation = 0
    }

    private let recorded = Mutex(Recorded())

    /// Makes a recorder without events.
    public init() {}

    /// The events so far, the oldest first.
    public var events: [CacheEvent] { recorded.withLock { $0.events } }

    /// The keys of the events of one kind, the oldest first; events without a key are left out.
    public func keys(of kind: CacheEvent.Kind) -> [String] {
        events.filter { $0.kind == kind }.compactMap(\.key)
    }

    /// The errors of failures that no call could throw, and of damaged entries, the oldest first.
    public var failures: [any Error] {
        events.filter { $0.kind == .failed || $0.reason == .corrupted }.compactMap(\.cause)
    }

    /// Forgets the events so far.
    public func removeAll() {
        let former = recorded.withLock { recorded in
            defer { recorded = Recorded(generation: recorded.generation + 1) }
            return recorded.events
        }
        _ = consume former
    }

    /// Suspends until an event fulfills `condition`: for work that a cache does in the background.
    ///
    /// - Parameters:
    ///   - limit: how long to wait at most; ten seconds by default.
    ///   - condition: is called with every event, including earlier ones.
    /// - Returns: the first such event; `nil` if there was none in time, or the task was cancelled.
    public nonisolated(nonsending) func event(
        within limit: Duration = .seconds(10),
        where condition: (CacheEvent) -> Bool
    ) async -> CacheEvent? {
        let end = ContinuousClock.now + limit
        var (seen, generation) = (0, 0)
        while true {
            let (events, current) = recorded.withLock { ($0.events, $0.generation) }
            if generation != current { (seen, generation) = (0, current) }
            if let event = events[seen...].first(where: condition) { return event }
            seen = events.count
            if ContinuousClock.now >= end || Task.isCancelled { return nil }
            do {
                try await Task.sleep(for: .milliseconds(2))
            } catch {
                return nil
            }
        }
    }

    /// Records an event. Called by the cache.
    public func cache(_ name: String, did event: CacheEvent) {
        recorded.withLock { $0.events.append(event) }
    }
}
