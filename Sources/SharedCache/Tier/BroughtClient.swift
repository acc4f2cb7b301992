import RedisWire
import Synchronization

/// A client that an app has brought, with heartbeats: plain commands, which prove that the server answers, and nothing
/// about changes by other machines.
final class BroughtClient: TierClient {
    private let client: any RedisClient
    private let isClosed = Atomic<Bool>(false)
    private let heart: Task<Void, Never>

    let byteCounts = (sent: 0, received: 0)

    /// - Parameter observer: is told that the server has answered, or that it has not.
    init(
        _ client: any RedisClient,
        heartbeat: RedisCommand,
        interval: Duration,
        observer: @escaping @Sendable (TrackingEvent) -> Void
    ) {
        self.client = client
        heart = Task.detached(priority: .utility) {
            while !Task.isCancelled {
                let start = ContinuousClock.now
                do throws(RedisError) {
                    let answer = try await client.send([heartbeat]).first
                    if case .error(let refusal)? = answer {
                        throw RedisError(.refused, String(refusal.textWithoutArguments))
                    }
                    observer(.verified(since: start))
                } catch {
                    observer(.lost(error))
                }
                // It only fails if the task is cancelled, which ends the loop.
                try? await Task.sleep(for: interval)
            }
        }
    }

    deinit { heart.cancel() }

    func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        try checkOpen()
        return try await client.send(commands)
    }

    func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        try checkOpen()
        return try client.sendAndWait(commands)
    }

    func servers() throws(RedisError) -> RedisServers {
        try checkOpen()
        return try client.servers()
    }

    private func checkOpen() throws(RedisError) {
        if isClosed.load(ordering: .acquiring) { throw RedisError(.closed, "The tier is closed.") }
    }

    /// The app's client stays open.
    func close() {
        isClosed.store(true, ordering: .releasing)
        heart.cancel()
    }
}
