import Foundation
import Synchronization

/// Where callers leave their calls for the thread that serves a connection, and where they write and read by themselves
/// while no other call is under way.
///
/// Locks, in the order in which they are taken: that of the channel, which the thread holds while it works on the
/// connection, and callers never wait for; that of the content.
final class RedisInbox: Sendable {
    struct Content {
        var calls: [RedisCall] = []
        var isClosed = false
    }

    /// `nil` until the thread has made it. Callers are told of outcomes, and observers of events, under its lock.
    private let channel = Mutex<RedisChannel?>(nil)
    /// Whether the channel was idle when its lock was last given back. One caller takes the flag
    /// and tries the lock: a failed try is a system call, and makes the holder's unlock one, too.
    private let isIdle = Atomic<Bool>(false)
    private let content = Mutex(Content())
    /// Whether the thread has been told that something is here. Changed under the lock of the content.
    private let isAnnounced = Atomic<Bool>(false)
    /// Whether the thread waits for the channel's lock.
    private let isWanted = Atomic<Bool>(false)
    /// Whether callers read, see ``CallerReading``, as it was when the channel's lock was last given back.
    let isReadByCallers = Atomic<Bool>(false)
    /// How many answers tasks were about to read.
    private let turnCount = Atomic<Int>(0)
    private let thread: RedisThread
    let number: Int
    /// In a forked process, no thread serves the connection.
    private let process = getpid()
    /// The bytes that went to the server and came from it, of all of the connection's sockets.
    let sentByteCount = Atomic<Int>(0)
    let receivedByteCount = Atomic<Int>(0)
    /// How many connections have been opened, one after another.
    let connectionCount = Atomic<Int>(0)

    init(thread: RedisThread) {
        self.thread = thread
        number = thread.nextNumber()
    }

    var isForked: Bool { getpid() != process }

    /// - Returns: whether the caller has sent the call: then it may read the answer, see ``read(for:)``.
    func add(_ call: RedisCall) -> Bool {
        if sendsAtOnce(call) { return true }
        let isClosed = change { content in
            if !content.isClosed { content.calls.append(call) }
            return content.isClosed
        }
        if isClosed { call.answer.fail(RedisError(.closed, "The connection is closed.")) }
        return false
    }

    /// Whether a task that may read its answer yields before. A task that finds its answer goes on without suspending, and
    /// other tasks that are ready, whose calls could go out together, would get no thread.
    var isTurnOfOthers: Bool {
        isReadByCallers.load(ordering: .relaxed) && turnCount.add(1, ordering: .relaxed).newValue.isMultiple(of: 16)
    }

    /// Reads from the socket until an answer has come, for a moment, if callers do that. Called by the one that sent the
    /// call and waits. The thread is told to wait for an answer that has not come.
    func read(for answer: RedisAnswer) {
        guard isReadByCallers.load(ordering: .relaxed) else { return }
        let isDone = channel.withLockIfAvailable { channel -> Bool in
            guard let channel else { return true }
            defer { note(channel) }
            return channel.read(for: answer) {
                !isAnnounced.load(ordering: .relaxed) && !isWanted.load(ordering: .relaxed)
            }
        }
        if isDone != true { thread.announce(number) }
    }

    /// Writes a call to the socket, which saves a change to the thread, if no other call is under way: many at once go out
    /// together by the thread.
    private func sendsAtOnce(_ call: RedisCall) -> Bool {
        guard isIdle.load(ordering: .relaxed), isIdle.exchange(false, ordering: .relaxed) else { return false }
        let outcome = channel.withLockIfAvailable { channel -> RedisChannel.Shortcut in
            guard let channel, content.withLock({ $0.calls.isEmpty && !$0.isClosed }) else { return .none }
            defer { note(channel) }
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
            (body(&content), !isAnnounced.exchange(true, ordering: .relaxed))
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
        // A caller that reads gives the lock back then.
        isWanted.store(true, ordering: .relaxed)
        let outcome = channel.withLock { channel in
            isWanted.store(false, ordering: .relaxed)
            return channel.map { (result: body($0), isIdle: $0.isIdle, isReadByCallers: $0.isReadByCallers) }
        }
        guard let outcome else { return nil }
        // Not under the lock, which a caller would find taken.
        isIdle.store(outcome.isIdle, ordering: .relaxed)
        isReadByCallers.store(outcome.isReadByCallers, ordering: .relaxed)
        return outcome.result
    }

    /// Called by a caller that gives the channel's lock back.
    private func note(_ channel: RedisChannel) {
        isReadByCallers.store(channel.isReadByCallers, ordering: .relaxed)
        isIdle.store(channel.isIdle, ordering: .relaxed)
    }

    /// The channel is over, and refers to this inbox.
    func dropChannel() { channel.withLock { $0 = nil } }

    /// Takes all calls that have come. Called by the thread.
    func take() -> (calls: [RedisCall], isClosed: Bool) {
        content.withLock { content in
            isAnnounced.store(false, ordering: .relaxed)
            defer { content.calls = [] }
            return (content.calls, content.isClosed)
        }
    }
}
