import Foundation
import Synchronization
import TestSupport

@testable import TypedCache

/// Records all events and operations.
final class EventObserver: CacheObserver {
    let observedEvents: ObservedEvents
    let events = Recorder<CacheEvent>()
    /// The operations that began.
    let operations = Recorder<CacheOperation>()
    /// Beginnings and ends that do not match.
    let faults = Recorder<String>()
    private let open = Mutex<[UUID: CacheOperation]>([:])

    init(_ observedEvents: ObservedEvents = .all) { self.observedEvents = observedEvents }

    /// How many operations have begun and not ended.
    var openCount: Int { open.withLock { $0.count } }

    func cache(_ name: String, did event: CacheEvent) { events.add(event) }

    func cache(_ name: String, willBegin operation: CacheOperation) -> UUID? {
        operations.add(operation)
        let token = UUID()
        open.withLock { $0[token] = operation }
        return token
    }

    func cache(_ name: String, didEnd operation: CacheOperation, _ token: UUID?) {
        guard let token, open.withLock({ $0.removeValue(forKey: token) }) == operation else {
            return faults.add("\(operation) ended, but had not begun")
        }
    }
}
