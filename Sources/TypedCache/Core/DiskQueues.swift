import ArchiveStore
import Dispatch

/// Where asynchronous calls do their disk work: on a few threads of their own, for the threads that run Swift's tasks
/// are too few to wait for a disk.
///
/// Work for one key always goes to the same queue, so it is done in the order in which it was asked for.
struct DiskQueues: Sendable {
    /// The number of queues for keys; one more queue is for work on no key or on many, which may take long.
    private static let count = 4
    private static let current = DispatchSpecificKey<Place>()
    private let queues: [DispatchQueue]
    private let usage: StoreUsage
    private let label: String

    /// Where work runs: on which queue of which cache.
    private struct Place: Sendable {
        let usage: StoreUsage
        let number: Int
    }

    /// - Parameter usage: asked before work is queued: a forked process has none of the queues' threads.
    init(label: String, usage: StoreUsage) {
        self.usage = usage
        self.label = label
        queues = (0...Self.count).map { number in
            // On Apple platforms, Foundation's objects go when the work that made them is done.
            let queue = DispatchQueue(
                label: "typed-cache.\(label).\(number)",
                qos: .userInitiated,
                autoreleaseFrequency: .workItem
            )
            queue.setSpecific(key: Self.current, value: Place(usage: usage, number: number))
            return queue
        }
    }

    /// Has `body` run before long, and does not wait for it but in a forked process.
    func start(_ key: EntryKey?, _ body: @escaping @Sendable () -> Void) {
        StoreUsage.start(on: queue(key), body)
    }

    /// Suspends until `body` has run.
    nonisolated(nonsending) func run<Result: Sendable>(
        _ key: EntryKey? = nil,
        _ body: @escaping @Sendable () -> Result
    ) async -> Result {
        await withUnsafeContinuation { continuation in
            queue(key).async { continuation.resume(returning: body()) }
        }
    }

    /// - Throws: `.closed` and `.forked`.
    func checkUsable() throws(CacheError) {
        if !usage.isUsable { throw CacheError(usage.failure).named(cache: label) }
    }

    /// Suspends until `body` has run, and throws its error, or `.closed` or `.forked`.
    nonisolated(nonsending) func runThrowing<Result: Sendable>(
        _ key: EntryKey? = nil,
        _ body: @escaping @Sendable () throws(CacheError) -> Result
    ) async throws(CacheError) -> Result {
        try checkUsable()
        return try await run(key) { Swift.Result { () throws(CacheError) in try body() } }.get()
    }

    /// Waits until all work that was started before has run. On one of this cache's own queues it does not wait,
    /// because work there would wait for itself.
    func drain() {
        guard currentNumber == nil else { return }
        for queue in queues { queue.sync {} }
    }

    /// Suspends until all work that was started before has run.
    nonisolated(nonsending) func drained() async {
        for queue in queues {
            await withUnsafeContinuation { continuation in queue.async { continuation.resume() } }
        }
    }

    /// Waits until all work for keys that was started before has run. On a queue for keys it does not wait.
    func drainKeys() {
        if let number = currentNumber, number < Self.count { return }
        for queue in queues.prefix(Self.count) { queue.sync {} }
    }

    /// The number of the queue that this runs on; `nil` for another queue.
    private var currentNumber: Int? {
        guard let place = DispatchQueue.getSpecific(key: Self.current), place.usage === usage else { return nil }
        return place.number
    }

    private func queue(_ key: EntryKey?) -> DispatchQueue {
        queues[key.map { Int(truncatingIfNeeded: $0.hash >> 32) & (Self.count - 1) } ?? Self.count]
    }
}
