import Foundation
import Synchronization

/// Where callers leave their calls for the thread that serves a connection.
final class RedisInbox: Sendable {
    struct Content {
        var calls: [RedisCall] = []
        var isClosed = false
        /// Whether the thread has been told that something is here.
        fileprivate var isAnnounced = false
    }

    private let content = Mutex(Content())
    private let thread: RedisThread
    let number: Int
    /// In a forked process, no thread serves the connection.
    private let process = getpid()
    /// The bytes that went to the server and came from it, of all of the connection's sockets. Changed by the thread.
    let sentByteCount = Atomic<Int>(0)
    let receivedByteCount = Atomic<Int>(0)

    init(thread: RedisThread) {
        self.thread = thread
        number = thread.nextNumber()
    }

    var isForked: Bool { getpid() != process }

    func add(_ call: RedisCall) {
        let isClosed = change { content in
            if !content.isClosed { content.calls.append(call) }
            return content.isClosed
        }
        if isClosed { call.answer.fail(RedisError(.closed, "The connection is closed.")) }
    }

    func close() {
        if isForked { return }
        change { $0.isClosed = true }
    }

    /// Changes the content and has the thread look at it.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout Content) -> Result) -> Result {
        let (result, isNews) = content.withLock { content in
            let result = body(&content)
            defer { content.isAnnounced = true }
            return (result, !content.isAnnounced)
        }
        if isNews { thread.announce(number) }
        return result
    }

    /// Takes all calls that have come. Called by the thread.
    func take() -> (calls: [RedisCall], isClosed: Bool) {
        content.withLock { content in
            content.isAnnounced = false
            defer { content.calls = [] }
            return (content.calls, content.isClosed)
        }
    }
}
