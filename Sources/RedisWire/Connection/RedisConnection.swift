/// A connection to one server, which connects by itself, and again whenever it broke.
///
/// All calls of all tasks share it: calls that come while earlier ones are being written go out together. It holds no thread
/// while they wait, but for a moment where the server's answers come at once: see ``RedisTimeouts/callerReading``. A command
/// is sent once at most.
///
/// Timeouts are those of ``RedisSettings/timeouts``. While a connection is being made, calls wait for it; after a failed
/// attempt they fail at once with `.notConnected` until the next one, see ``RedisSettings/backoff``.
package final class RedisConnection: RedisClient, ClusterNode {
    let inbox: RedisInbox
    private let settings: RedisSettings

    /// Begins to connect. With TLS it blocks while files of certificates are read.
    ///
    /// - Parameters:
    ///   - hearsMessages: whether messages that answer no command are told as they come, and not with the next answer. So they
    ///     are on a connection with a preparation.
    ///   - observer: is told of changes and messages, on the thread of all connections, which it must not hold up.
    /// - Throws: as ``check(_:)``.
    package convenience init(
        to endpoint: RedisEndpoint,
        settings: RedisSettings,
        hearsMessages: Bool = false,
        observer: @escaping @Sendable (RedisEvent) -> Void = { _ in }
    ) throws(RedisError) {
        try self.init(
            to: endpoint,
            addresses: { endpoint throws(SocketError) in try Socket.addresses(of: endpoint) },
            settings: settings,
            hearsMessages: hearsMessages,
            observer: observer
        )
    }

    /// - Parameter addresses: gives those of an endpoint.
    init(
        to endpoint: RedisEndpoint,
        addresses: @escaping RedisChannel.Addresses,
        settings: RedisSettings,
        hearsMessages: Bool = false,
        observer: @escaping @Sendable (RedisEvent) -> Void = { _ in }
    ) throws(RedisError) {
        try Self.check(settings)
        let thread = RedisThread.shared
        inbox = RedisInbox(thread: thread)
        self.settings = settings
        thread.add(
            RedisChannel.Parts(
                endpoint: endpoint,
                addresses: addresses,
                settings: settings,
                hearsMessages: hearsMessages || !settings.preparation.isEmpty,
                inbox: inbox,
                observer: observer
            )
        )
    }

    deinit { inbox.close() }

    /// Checks whether connections can be made. Reads files of certificates, which blocks, if the settings ask for TLS.
    ///
    /// - Throws: `.notConnected` if the process has no descriptors left, `.forked` if it was forked from one that had
    ///   connections, `.unsupported` for TLS in a build without it, `.insecure` if its files cannot be used.
    package static func check(_ settings: RedisSettings) throws(RedisError) {
        let thread = RedisThread.shared
        if thread.isForked {
            let reason = "this process was forked from one that had connections, and has no thread for its own"
            throw RedisError(.forked, "No connection can be made: \(reason).")
        }
        if let failure = thread.failure {
            throw RedisError(.notConnected, "No connection can be made: \(failure).")
        }
        if !settings.usesTLS { return }
        if !RedisTLSSettings.isSupported { throw RedisError(.unsupported, RedisTLSSettings.unsupported + ".") }
        do throws(SocketError) {
            _ = try TLSContexts.context(for: settings.tls)
        } catch {
            throw RedisError(.insecure, "No connection can be made: \(error).")
        }
    }

    /// Sends commands; all else is as ``RedisClient`` says. A cancelled task no longer waits, but commands that are on
    /// their way may be executed.
    ///
    /// - Precondition: No command is answered by messages alone, as `SUBSCRIBE` is: see ``RedisSettings/preparation``.
    package func send(_ commands: [RedisCommand]) async throws(RedisError) -> [RedisValue] {
        try await outcome(of: commands)
    }

    package func send(_ commands: [RedisCommand], within time: Duration) async throws(RedisError) -> [RedisValue] {
        try await outcome(of: commands, until: .now + time)
    }

    private func outcome(
        of commands: [RedisCommand],
        until deadline: ContinuousClock.Instant? = nil
    ) async throws(RedisError) -> [RedisValue] {
        if Task.isCancelled { throw RedisError(.cancelled, "The task was cancelled.") }
        return try await submit(commands, until: deadline).outcome().get()
    }

    package func sendAndWait(_ commands: [RedisCommand]) throws(RedisError) -> [RedisValue] {
        try submit(commands).wait().get()
    }

    package func begin(_ commands: [RedisCommand], until deadline: ContinuousClock.Instant?) -> RedisPending {
        do throws(RedisError) {
            return try submit(commands, until: deadline)
        } catch {
            return RedisPending(.failure(error))
        }
    }

    /// Sends commands, or leaves them for the thread of all connections.
    ///
    /// - Parameter deadline: when the caller stops waiting; `nil` for the client's own timeout.
    private func submit(
        _ commands: [RedisCommand],
        until deadline: ContinuousClock.Instant? = nil
    ) throws(RedisError) -> RedisPending {
        guard let call = try call(of: commands, until: deadline) else { return RedisPending(.success([])) }
        let isSent = inbox.add(call)
        return RedisPending(call.answer, in: isSent ? inbox : nil)
    }

    /// - Parameter callerDeadline: when the caller stops waiting; `nil` for the client's own timeout.
    /// - Returns: `nil` for no commands.
    private func call(
        of commands: [RedisCommand],
        until callerDeadline: ContinuousClock.Instant?
    ) throws(RedisError) -> RedisCall? {
        if commands.isEmpty { return nil }
        precondition(!commands.contains(where: \.isAnsweredByPush), "a subscription belongs to the preparation")
        if inbox.isForked { throw RedisError(.forked, "The connection belongs to the parent process.") }
        let deadline = ContinuousClock.now + settings.timeouts.soft
        return RedisCall(
            bytes: RedisCommand.bytes(of: commands),
            answerCount: commands.count,
            deadline: deadline,
            callerDeadline: callerDeadline.flatMap { $0 < deadline ? $0 : nil }
        )
    }

    /// The bytes of commands that were sent, and of all that came.
    package var byteCounts: (sent: Int, received: Int) {
        (inbox.sentByteCount.load(ordering: .relaxed), inbox.receivedByteCount.load(ordering: .relaxed))
    }

    package var connectionCount: Int { inbox.connectionCount.load(ordering: .relaxed) }

    /// Gives up the connection that is open, if one is, and connects again: calls on their way fail with
    /// `.connectionLost`. Does not block.
    func reconnect(because reason: String) {
        if !inbox.isForked { RedisThread.shared.perform(for: inbox.number) { $0.giveUp(reason) } }
    }

    /// Ends the connection: calls that wait, and later ones, fail with `.closed`. Does not block.
    package func close() { inbox.close() }
}

/// A change of a connection, or a message.
package enum RedisEvent: Sendable {
    /// It is open and prepared; the server's answer to `HELLO`.
    case connected(RedisValue)
    /// It broke, or an attempt to connect failed. The next one follows by itself.
    case disconnected(RedisError)
    /// A message that answers no command.
    case push([RedisValue])
}
