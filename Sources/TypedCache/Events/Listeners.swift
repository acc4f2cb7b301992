import ArchiveStore

/// The observer and the streams that receive the events of a cache.
final class Listeners: Sendable {
    private struct State {
        var streams: [Int: AsyncStream<CacheEvent>.Continuation] = [:]
        var next = 0
        var isClosed = false
    }

    /// How many events wait for a listener at most; the oldest ones are dropped then.
    private static let bufferCount = 4_096

    private let cacheName: String
    let storeTier: CacheEvent.Tier
    private let observer: (any CacheObserver)?
    private let observed: ObservedEvents
    private let gate: HitGate
    private let state = RankedMutex(State(), rank: CacheLocks.listeners)

    init(cacheName: String, storeTier: CacheEvent.Tier, observer: (any CacheObserver)?, gate: HitGate) {
        self.cacheName = cacheName
        self.storeTier = storeTier
        self.observer = observer
        observed = observer?.observedEvents ?? .none
        self.gate = gate
        gate.isHeard = observed == .all
    }

    deinit { close() }

    /// Ends all streams: they give the events that they hold, and no more. A later one is at its end from the beginning.
    func close() {
        let streams = state.withLock { state in
            defer { state.streams = [:] }
            state.isClosed = true
            gate.isHeard = observed == .all
            return state.streams
        }
        for stream in streams.values { stream.finish() }
    }

    /// Whether an observer or a stream is told every event.
    var isActive: Bool { gate.isHeard }

    /// - Parameter isOfCopy: whether it happened on this machine's disk, which has copies of a server's entries.
    func tell(_ occurrence: Occurrence, _ key: EntryKey?, cause: (any Error)? = nil, isOfCopy: Bool = false) {
        let isObserved = isObserved(occurrence)
        guard isObserved || isActive else { return }
        let tier = isOfCopy ? .disk : storeTier
        let event = CacheEvent(occurrence, key: key?.text, cause: cause, storeTier: tier)
        if isObserved { observer?.cache(cacheName, did: event) }
        for stream in state.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    }

    private func isObserved(_ occurrence: Occurrence) -> Bool {
        if observed == .all { return true }
        if observed == .none { return false }
        if occurrence.isFailure { return true }
        guard observed == .losses else { return false }
        // An entry that memory evicts is still on disk, if the cache has a disk.
        return occurrence == .expired || occurrence == .diskEvicted
            || occurrence == .memoryEvicted && storeTier == .memory
    }

    /// A stream of its own for one listener, until ``close()``.
    func stream() -> AsyncStream<CacheEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CacheEvent.self,
            bufferingPolicy: .bufferingNewest(Self.bufferCount)
        )
        let number = state.withLock { state -> Int? in
            if state.isClosed { return nil }
            state.next += 1
            state.streams[state.next] = continuation
            gate.isHeard = true
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.forget(number) }
        return stream
    }

    private func forget(_ number: Int) {
        let former = state.withLock { state in
            let former = state.streams.removeValue(forKey: number)
            gate.isHeard = observed == .all || !state.streams.isEmpty
            return former
        }
        _ = consume former
    }

    // MARK: Operations

    /// An operation of the store as observers see it.
    private func told(_ operation: CacheOperation) -> CacheOperation {
        guard storeTier == .shared else { return operation }
        return operation == .read ? .remoteRead : operation == .write ? .remoteWrite : operation
    }

    /// Has the observer see the beginning and the end of `body`.
    func observing<Result, Failure: Error>(
        _ operation: CacheOperation,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let observer else { return try body() }
        return try observing(told(operation), by: observer, body)
    }

    nonisolated(nonsending) func observing<Result, Failure: Error>(
        _ operation: CacheOperation,
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        guard let observer else { return try await body() }
        return try await observing(told(operation), by: observer, body)
    }

    // The token's type is the observer's.

    private func observing<Result, Failure: Error>(
        _ operation: CacheOperation,
        by observer: some CacheObserver,
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let token = observer.cache(cacheName, willBegin: operation)
        defer { observer.cache(cacheName, didEnd: operation, token) }
        return try body()
    }

    private nonisolated(nonsending) func observing<Result, Failure: Error>(
        _ operation: CacheOperation,
        by observer: some CacheObserver,
        _ body: nonisolated(nonsending) () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let token = observer.cache(cacheName, willBegin: operation)
        defer { observer.cache(cacheName, didEnd: operation, token) }
        return try await body()
    }
}
