import Foundation

/// Runs two tasks at once, and waits for both on a thread that is not a task's.
enum TwoTasks {
    static func run(
        _ first: @escaping @Sendable () async throws -> Void,
        while second: @escaping @Sendable () async throws -> Void
    ) throws {
        let done = DispatchSemaphore(value: 0)
        let result = Outcomes()
        for body in [first, second] {
            Task.detached {
                do { try await body() } catch { result.note(error) }
                done.signal()
            }
        }
        done.wait()
        done.wait()
        try result.check()
    }
}

/// The first error of several threads.
final class Outcomes: @unchecked Sendable {
    // The lock guards it.
    private var error: (any Error)?
    private let lock = NSLock()

    func note(_ error: any Error) { lock.withLock { self.error = self.error ?? error } }

    func check() throws {
        if let error = lock.withLock({ error }) { throw error }
    }
}
