import Foundation
import Synchronization

/// One thread that writes the calls of all connections and reads their answers. It never waits for anything but all of
/// them at once.
final class RedisThread: Sendable {
    /// For all connections of the process. It begins with the first one and stays.
    static let shared = RedisThread()

    private struct News {
        var channels: [RedisChannel.Parts] = []
        var numbers: [Int] = []
        /// Other work for the thread.
        var works: [(number: Int, body: @Sendable (RedisChannel) -> Void)] = []
        /// Whether a byte is in the pipe, or the thread is at work and will look here before it waits.
        var isWoken = false

        var isEmpty: Bool { channels.isEmpty && numbers.isEmpty && works.isEmpty }
    }

    private let news = Mutex(News())
    private let numbers = Atomic<Int>(0)
    private let waking: Result<Socket, SocketError>
    /// A process that was forked from this one has no such thread.
    private let process = getpid()

    private init() {
        do throws(SocketError) {
            let (reader, writer) = try Socket.pipe()
            waking = .success(writer)
            let thread = Thread { [self] in run(reader) }
            thread.name = "redis-wire"
            thread.start()
        } catch {
            waking = .failure(error)
        }
    }

    /// Why there is no thread; `nil` if there is one.
    var failure: SocketError? {
        if case .failure(let error) = waking { error } else { nil }
    }

    var isForked: Bool { getpid() != process }

    func nextNumber() -> Int { numbers.add(1, ordering: .relaxed).newValue }

    // MARK: From other threads

    func add(_ parts: RedisChannel.Parts) { tell { $0.channels.append(parts) } }

    /// Has the thread look into the inbox of a connection.
    func announce(_ number: Int) { tell { $0.numbers.append(number) } }

    /// Runs `body` on the thread, if the connection is not closed by then.
    func perform(for number: Int, _ body: @escaping @Sendable (RedisChannel) -> Void) {
        tell { $0.works.append((number, body)) }
    }

    private func tell(_ change: (inout News) -> Void) {
        let wakes = news.withLock { news in
            change(&news)
            defer { news.isWoken = true }
            return !news.isWoken
        }
        if wakes, case .success(let writer) = waking { writer.writeByteToPipe() }
    }

    // MARK: The thread

    private func run(_ waking: Socket) {
        var inboxes: [Int: RedisInbox] = [:]
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 16) { buffer in
            while true {
                repeat {
                    takeNews(into: &inboxes)
                    Self.act(on: &inboxes)
                } while !beginWaiting()
                var polls = [pollfd(fd: waking.descriptor, events: Int16(POLLIN), revents: 0)]
                var polled: [RedisInbox] = []
                var deadline: ContinuousClock.Instant?
                let now = ContinuousClock.now
                for inbox in inboxes.values {
                    guard let (due, poll) = inbox.withChannel({ ($0.nextDeadline(after: now), $0.poll) }) else {
                        continue
                    }
                    if let due { deadline = min(deadline ?? due, due) }
                    guard let poll else { continue }
                    polls.append(poll)
                    polled.append(inbox)
                }
                _ = Foundation.poll(&polls, nfds_t(polls.count), Self.milliseconds(until: deadline))
                endWaiting()
                if polls[0].revents != 0 { waking.drainPipe(buffer) }
                for (poll, inbox) in zip(polls.dropFirst(), polled) where poll.revents != 0 {
                    inbox.withChannel { $0.isReady(poll.revents, buffer) }
                }
            }
        }
    }

    /// Does the due work of all connections, and drops closed ones.
    private static func act(on inboxes: inout [Int: RedisInbox]) {
        let now = ContinuousClock.now
        for (number, inbox) in inboxes {
            let isOver = inbox.withChannel { channel in
                channel.act(at: now)
                return channel.isOver
            }
            if isOver == true {
                inbox.dropChannel()
                inboxes[number] = nil
            }
        }
    }

    private func takeNews(into inboxes: inout [Int: RedisInbox]) {
        let found = news.withLock { news in
            defer { news = News(isWoken: true) }
            return news
        }
        for parts in found.channels {
            parts.inbox.makeChannel(parts)
            inboxes[parts.inbox.number] = parts.inbox
        }
        for number in found.numbers { inboxes[number]?.withChannel { $0.lookIntoInbox() } }
        for (number, body) in found.works { inboxes[number]?.withChannel(body) }
    }

    /// Has the next news wake the thread, unless there are some already; then it returns `false`.
    private func beginWaiting() -> Bool {
        news.withLock { news in
            news.isWoken = !news.isEmpty
            return news.isEmpty
        }
    }

    /// Callers need not wake the thread from now on: they are told of many answers at once, and call again.
    private func endWaiting() { news.withLock { $0.isWoken = true } }

    /// Rounded up, so that the deadline has passed then; −1 for none.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        if left <= .zero { return 0 }
        return Int32(min(left, .seconds(60)) / .milliseconds(1)) + 1
    }
}
