import TypedCache

/// Hands on the errors of damaged entries, and of failures that no call could throw.
struct FailureObserver: CacheObserver {
    let told: @Sendable (CacheError) -> Void

    var observedEvents: ObservedEvents { .failures }

    func cache(_ name: String, did event: CacheEvent) {
        if let error = event.cause as? CacheError { told(error) }
    }
}
