import TypedCache

/// Logs damaged entries, and failures that no call could throw.
struct DamageObserver: CacheObserver {
    let log: OperationLog
    var isOfServer = false

    func cache(_ name: String, did event: CacheEvent) {
        guard event.kind == .failed && !isOfServer || event.reason == .corrupted, let cause = event.cause else {
            return
        }
        log.append(.damage("\(cause)".replacing("\n", with: " ")))
    }
}
