import Dispatch

extension RedisClient {
    /// Waits for ``send(_:)``, which runs in a task of its own, on a thread that belongs to no pool: for a client that has
    /// no calls that block. All that the client awaits must be able to go on without the blocked thread, so that the main
    /// thread must not call this for a client on the main actor.
    public func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        let answer = RedisAnswer()
        Task(executorPreference: WaitingExecutor.shared) {
            do throws(RedisError) {
                answer.tell(.success(try await send(commands)))
            } catch {
                answer.fail(error)
            }
        }
        return try answer.waitForOutcome().get()
    }
}

/// Runs the steps of tasks that blocked threads wait for: all threads of Swift's pool may be among those.
final class WaitingExecutor: TaskExecutor {
    static let shared = WaitingExecutor(label: "typed-cache.redis-client")

    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label, qos: .userInitiated) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
