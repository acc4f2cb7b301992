import Foundation
import Synchronization

/// Where callers leave their calls for the thread that serves a connection, and where they write by themselves while no
/// call is under way.
///
/// Locks, in the order in which they are taken: that of the channel, which the thread holds while it works on the
/// connection, and callers never wait for; that of the content.
final class RedisInbox: Sendable {
    struct Content {
        var calls: [RedisCall] = []
        var isClosed = false
        /// Whether the thread has been told that something is here.
        fileprivate var isAnnounced = false
    }

    /// `nil` until the thread has made it. Callers are told of outcomes, and observers of events, under its lock.
    private let channel = Mutex<RedisChannel?>(nil)
    /// Whether the channel was idle when its lock was last given back. One caller takes the flag
    /// and tries the lock: a failed try is a system call, and makes the holder's unlock one, too.
    private let isIdle = Atomic<Bool>(false)
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
        if sendsAtOnce(call) { return }
        let isClosed = change { content in
            if !content.isClosed { content.calls.append(call) }
            return content.isClosed
        }
        if isClosed { call.answer.fail(RedisError(.closed, "The connection is closed.")) }
    }

    /// Writes a call to the socket, which saves a change to the thread, if no other call is under way: many at once go out
    /// together by the thread.
    private func sendsAtOnce(_ call: RedisCall) -> Bool {
        guard isIdle.load(ordering: .relaxed), isIdle.exchange(false, ordering: .relaxed) else { return false }
        let outcome = channel.withLockIfAvailable { channel -> RedisChannel.Shortcut in
            guard let channel, content.withLock({ $0.calls.isEmpty && !$0.isClosed }) else { return .none }
            defer { isIdle.store(channel.isIdle, ordering: .relaxed) }
            return channel.sendAtOnce(call)
        }
        switch outcome {
        case .taken(let isNews):
            if isNews { thread.announce(number) }
            return true
        case .some(.none), nil: return false
        }
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

    // MARK: The thread

    func makeChannel(_ parts: RedisChannel.Parts) {
        channel.withLock { $0 = RedisChannel(parts, thread: thread) }
    }

    /// Called by the thread.
    ///
    /// - Returns: `nil` without a channel.
    func withChannel<Result: Sendable>(_ body: (RedisChannel) -> Result) -> Result? {
        let outcome = channel.withLock { channel in channel.map { (result: body($0), isIdle: $0.isIdle) } }
        // Not under the lock, which a caller would find taken.
        if let outcome { isIdle.store(outcome.isIdle, ordering: .relaxed) }
        return outcome?.result
    }

    /// The channel is over, and refers to this inbox.
    func dropChannel() { channel.withLock { $0 = nil } }

    /// Takes all calls that have come. Called by the thread.
    func take() -> (calls: [RedisCall], isClosed: Bool) {
        content.withLock { content in
            content.isAnnounced = false
            defer { content.calls = [] }
            return (content.calls, content.isClosed)
        }
    }
}
