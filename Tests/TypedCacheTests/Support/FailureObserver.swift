import TypedCache

/// Hands on the errors of damaged entries, and of failures that no call could throw.
struct FailureObserver: CacheObserver {
    let told: @Sendable (CacheError) -> Void

    func cache(_ name: String, did event: CacheEvent) {
        guard event.kind == .failed || event.reason == .corrupted else { return }
        if let error = event.cause as? CacheError { told(error) }
    }
}
