import Dispatch
import Synchronization

/// A user's name and password. Printing shows neither.
package struct RedisCredentials: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// `nil` for the server's default user.
    package let user: String?
    package let password: String

    package init(user: String?, password: String) {
        self.user = user
        self.password = password
    }

    package var description: String { "RedisCredentials(hidden)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

/// Gives the credentials of each new connection, for passwords and tokens that expire. Two of them are equal if they are one
/// object.
package final class RedisCredentialsProvider: Sendable, Equatable {
    private let provide: @Sendable () async throws -> RedisCredentials
    private let executor = WaitingExecutor(label: "typed-cache.redis-credentials")

    /// - Parameter provide: may be called for several connections at once, from a thread that belongs to no pool.
    package init(_ provide: @escaping @Sendable () async throws -> RedisCredentials) { self.provide = provide }

    /// Asks for credentials, and blocks until they are there: not on a thread of Swift's pool, all of which may be blocked.
    func credentials() throws(SocketError) -> RedisCredentials {
        let answer = Answer()
        Task(executorPreference: executor) { [provide] in
            do {
                answer.tell(.success(try await provide()))
            } catch {
                // The error's own text may have secrets in it.
                answer.tell(.failure(SocketError("asking for credentials", "\(type(of: error)) was thrown")))
            }
        }
        return try answer.wait().get()
    }

    package static func == (first: RedisCredentialsProvider, second: RedisCredentialsProvider) -> Bool {
        first === second
    }

    private final class Answer: Sendable {
        typealias Outcome = Result<RedisCredentials, SocketError>

        private let outcome = Mutex<Outcome?>(nil)
        private let isTold = DispatchSemaphore(value: 0)

        func tell(_ new: Outcome) {
            outcome.withLock { $0 = new }
            isTold.signal()
        }

        func wait() -> Outcome {
            while true {
                isTold.wait()
                if let outcome = outcome.withLock(\.self) { return outcome }
            }
        }
    }
}
