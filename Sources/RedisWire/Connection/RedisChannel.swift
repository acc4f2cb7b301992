import Foundation

/// One connection as its thread sees it: connects, greets, sends calls, reads answers, and connects again when it broke.
///
/// Sendable, since all of it is used under the lock of its inbox alone.
final class RedisChannel: @unchecked Sendable {
    /// The parts of a channel.
    struct Parts: Sendable {
        let endpoint: RedisEndpoint
        let addresses: Addresses
        let settings: RedisSettings

        /// The server for people.
        var name: String { settings.sentinels.map { "The master \($0.master)" } ?? endpoint.description }

        let hearsMessages: Bool
        let inbox: RedisInbox
        let observer: @Sendable (RedisEvent) -> Void
    }

    typealias Instant = ContinuousClock.Instant

    /// Gives the addresses of an endpoint. It may block.
    typealias Addresses = @Sendable (RedisEndpoint) throws(SocketError) -> [SocketAddress]

    // Used by the extension for callers, too.
    let parts: Parts
    var phase: ConnectionPhase
    var calls = PendingCalls()
    var output = RedisOutput()
    var decoder: RedisDecoder
    var attempts: ConnectionAttempts
    // Asked for at each turn: copies of all settings would cost more than the rest of it.
    let timeouts: RedisTimeouts
    let limits: RedisLimits
    /// When the server last sent something, or began to owe an answer.
    var lastSign = Instant.now
    /// When the thread looks here again at the latest, as it was told; `nil` for never.
    private(set) var toldDeadline: Instant?
    /// Whether callers have written by themselves since that.
    var hasShortcuts = false
    /// How many calls the last answers were for.
    var doneAtOnce = 0
    var reading: CallerReading
    /// A value or failure that a caller has read and the thread has to handle.
    var held: Held?

    private let thread: RedisThread
    /// That of the attempt to connect that is under way.
    private var route: ConnectionRoute?
    /// Whether the server's name is being resolved.
    private var isResolving = false

    private var settings: RedisSettings { parts.settings }

    init(_ parts: Parts, thread: RedisThread) {
        self.parts = parts
        self.thread = thread
        decoder = RedisDecoder(limits: parts.settings.decoding)
        attempts = ConnectionAttempts(parts.settings.backoff)
        timeouts = parts.settings.timeouts
        limits = parts.settings.limits
        reading = CallerReading(patience: parts.hearsMessages ? .zero : timeouts.callerReading)
        phase = .over
        connect(at: .now)
    }

    var isOver: Bool { phase.isOver }

    /// The event that the thread waits for; `nil` for none.
    var poll: pollfd? {
        phase.poll(hasOutput: !output.isEmpty, awaitsInput: !isReadByCallers || calls.hasSent)
    }

    // MARK: Time

    /// When ``act(at:)`` is to be called at the latest.
    ///
    /// - Parameter now: callers that write by themselves need not wake the thread for their deadlines if it looks here
    ///   before: so it does, as long as they do.
    func nextDeadline(after now: Instant) -> Instant? {
        let due = dueDeadline
        let next = hasShortcuts ? now + timeouts.soft : nil
        toldDeadline = due.flatMap { due in next.map { min(due, $0) } } ?? due ?? next
        return toldDeadline
    }

    private var dueDeadline: Instant? {
        var own = phase.deadline
        if case .open = phase { own = lastSign + (calls.hasSent ? timeouts.hard : timeouts.silence) }
        guard let call = calls.deadline else { return own }
        return own.map { min($0, call) } ?? call
    }

    /// Does all work that is due.
    func act(at now: Instant) {
        let endpoint = parts.name
        let timeouts = timeouts
        if let told = toldDeadline, told <= now { hasShortcuts = false }
        takeAnswers(dueAt: now)
        calls.failLate(at: now) { isSent in
            let message =
                isSent
                ? "\(endpoint) gave no answer in time." : "\(endpoint) was not reached in time."
            return RedisError(.timeout, mayHaveRun: isSent, message)
        }
        switch phase {
        case .pausing(let until, _) where until <= now: connect(at: now)
        case .securing(_, let until) where until <= now:
            fail(
                RedisError(
                    .notConnected,
                    "\(endpoint) did not answer in TLS within \(timeouts.connect); its port may be one without TLS."
                )
            )
        case .connecting(_, let until, let others, let end) where until <= now && !others.isEmpty:
            connect(to: others, until: end, after: nil)
        case .resolving(let until) where until <= now, .connecting(_, let until, _, _) where until <= now,
            .greeting(_, _, let until) where until <= now:
            fail(RedisError(.notConnected, "\(endpoint) cannot be reached within \(timeouts.connect)."))
        case .open(let stream):
            if let held, !handle(held, from: stream) { break }
            if calls.hasSent, lastSign + timeouts.hard <= now {
                fail(RedisError(.connectionLost, "\(endpoint) owed an answer for \(timeouts.hard)."))
            } else if !calls.hasSent, lastSign + timeouts.silence <= now {
                calls.append(.ping(until: now + timeouts.soft))
            }
        case .pausing, .resolving, .connecting, .securing, .greeting, .over: break
        }
        send()
    }

    /// Takes the answers that have come, before a caller gets the error that there was none: this thread may have stood still for
    /// longer than the caller waits, on a busy machine.
    private func takeAnswers(dueAt now: Instant) {
        guard case .open(let stream) = phase, calls.hasSent, let deadline = calls.deadline, deadline <= now,
            held.map({ handle($0, from: stream) }) ?? true
        else { return }
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 16) { read(from: stream, $0) }
    }

    // MARK: Calls

    func lookIntoInbox() {
        let (new, isClosed) = parts.inbox.take()
        for call in new {
            if case .pausing(_, let error) = phase {
                call.answer.fail(RedisError(.notConnected, error.message))
            } else {
                calls.append(call)
            }
        }
        if isClosed { end() }
    }

    /// Handles the value or failure that a caller has left; returns whether the connection is still there.
    private func handle(_ held: Held, from stream: RedisStream) -> Bool {
        self.held = nil
        switch held {
        case .value(let value): return take(from: stream, first: value)
        case .undecodable: return take(from: stream)
        case .failure(let error):
            lose(error)
            return false
        }
    }

    func append(_ call: RedisCall) {
        output.append(call.bytes)
        parts.inbox.sentByteCount.add(call.bytes.count, ordering: .relaxed)
    }

    /// Writes calls as far as limits and the socket allow.
    private func send() {
        guard case .open(let stream) = phase else { return }
        while output.count < limits.unwrittenBytes {
            let owedNothing = !calls.hasSent
            guard let call = calls.nextToSend(room: limits.commands) else { break }
            if owedNothing { lastSign = .now }
            append(call)
        }
        _ = write(to: stream)
    }

    /// Writes as many bytes as the socket takes; returns whether the connection is still there.
    private func write(to stream: RedisStream) -> Bool {
        do throws(SocketError) {
            try stream.write(&output)
            return true
        } catch {
            lose(error)
            return false
        }
    }

    // MARK: The socket

    /// Called when the socket can be read or written, or has failed.
    func isReady(_ events: Int16, _ buffer: UnsafeMutableRawBufferPointer) {
        switch phase {
        case .connecting(let socket, _, let others, let end):
            if let failure = socket.failure() {
                connect(to: others, until: end, after: failure)
            } else {
                secure(socket, buffer, until: end)
            }
        case .securing(let stream, let until): shakeHands(stream, buffer, until: until)
        case .greeting(let stream, _, _), .open(let stream):
            if events & Int16(POLLOUT) != 0, !write(to: stream) { return }
            if events & ~Int16(POLLOUT) != 0 {
                let (done, since) = (calls.doneCount, lastSign)
                read(from: stream, buffer)
                if calls.doneCount > done { doneAtOnce = calls.doneCount - done }
                if calls.doneCount == done + 1, !calls.hasSent { reading.didWait(since.duration(to: lastSign)) }
            }
        case .pausing, .resolving, .over: break
        }
    }

    /// Begins the use of a socket that is connected.
    private func secure(_ socket: Socket, _ buffer: UnsafeMutableRawBufferPointer, until: Instant) {
        do throws(SocketError) {
            let name = settings.tls.serverName ?? route?.host ?? parts.endpoint.host
            let stream = RedisStream(socket, try route?.security?.session(withServer: name))
            phase = .securing(stream, until: until)
            shakeHands(stream, buffer, until: until)
        } catch {
            fail(unreachable(error))
        }
    }

    private func shakeHands(_ stream: RedisStream, _ buffer: UnsafeMutableRawBufferPointer, until: Instant) {
        do throws(SocketError) {
            guard try stream.shakeHands(buffer) else { return }
            let greeting = RedisGreeting(settings, route?.credentials)
            output.append(greeting.bytes)
            phase = .greeting(stream, greeting, until: until)
            _ = write(to: stream)
        } catch {
            fail(unreachable(error))
        }
    }

    private func read(from stream: RedisStream, _ buffer: UnsafeMutableRawBufferPointer) {
        do throws(SocketError) {
            // Not for ever: other connections wait, and a later look finds the rest of the socket's bytes. It does not find
            // those that the stream holds.
            var round = 0
            while round < 16 || stream.mayHoldInput {
                round += 1
                switch try stream.read(into: buffer, fromSocket: round <= 16) {
                case .wouldBlock: return
                case .end: return lose(.closed)
                case .bytes(let count):
                    didRead(buffer[..<count])
                    guard take(from: stream) else { return }
                    if count < buffer.count, !stream.mayHoldInput { return }
                }
            }
        } catch {
            lose(error)
        }
    }

    func didRead(_ bytes: Slice<UnsafeMutableRawBufferPointer>) {
        lastSign = .now
        parts.inbox.receivedByteCount.add(bytes.count, ordering: .relaxed)
        decoder.append(UnsafeRawBufferPointer(rebasing: bytes))
    }

    /// Takes all values that have come, `first` before them; returns whether the connection is still there.
    private func take(from stream: RedisStream, first: RedisValue? = nil) -> Bool {
        var first = first
        do {
            while let value = try first.take() ?? decoder.next() {
                if case .push(let elements) = value {
                    parts.observer(.push(elements))
                    continue
                }
                if case .greeting(_, var greeting, let until) = phase {
                    if let server = try greeting.take(value) {
                        phase = .open(stream)
                        parts.inbox.connectionCount.add(1, ordering: .relaxed)
                        parts.observer(.connected(server))
                    } else {
                        phase = .greeting(stream, greeting, until: until)
                    }
                } else if calls.take(value) {
                    attempts.succeed()
                } else {
                    throw RedisError(.malformed, "\(parts.name) sent an answer that nothing asked for.")
                }
            }
            return true
        } catch let error as RedisError {
            fail(error)
        } catch {
            fail(RedisError(.malformed, "\(parts.name) sent bytes that are not RESP3: \(error)"))
        }
        return false
    }

    // MARK: Connecting

    private func connect(at now: Instant) {
        phase = .resolving(until: now + timeouts.connect)
        // A resolver that takes longer than an attempt is not asked once more for each of them.
        if isResolving { return }
        isResolving = true
        let (thread, parts) = (thread, parts)
        // Elsewhere: names, sentinels and credentials wait for other servers, files for disks.
        DispatchQueue.global(qos: .userInitiated).async {
            let route = Result { () throws(SocketError) in
                try ConnectionRoute(to: parts.endpoint, parts.settings, parts.addresses)
            }
            thread.perform(for: parts.inbox.number) { $0.connect(by: route) }
        }
    }

    private func connect(by route: Result<ConnectionRoute, SocketError>) {
        isResolving = false
        // Too late, if the attempt has failed.
        guard case .resolving(let until) = phase else { return }
        switch route {
        case .success(let route):
            self.route = route
            connect(to: route.addresses[...], until: until, after: nil)
        case .failure(let error): fail(unreachable(error))
        }
    }

    /// Ends the attempt with the address before, and connects to the first of the addresses that takes it. Each has its
    /// share of the time: one that loses packets does not keep the next one from its turn.
    private func connect(to addresses: ArraySlice<SocketAddress>, until end: Instant, after failure: SocketError?) {
        phase.close(discardsOutput: true)
        phase = .resolving(until: end)
        var failure = failure
        var rest = addresses
        let now = Instant.now
        while let address = rest.popFirst() {
            do throws(SocketError) {
                let socket = try Socket(connectingTo: address)
                let share = now + now.duration(to: end) / (rest.count + 1)
                phase = .connecting(socket, until: share, others: rest, end: end)
                return
            } catch {
                failure = error
            }
        }
        fail(unreachable(failure))
    }

    private func unreachable(_ error: SocketError?) -> RedisError {
        let reason = error?.description ?? "there is no address"
        let code: RedisError.Code = error?.isOfTLS == true ? .insecure : .notConnected
        return RedisError(code, "\(parts.name) cannot be reached: \(reason).")
    }

    // MARK: The end

    private func lose(_ error: SocketError) {
        // A server may refuse the client's certificate after the handshake.
        if error.isOfTLS, case .greeting = phase { return fail(unreachable(error)) }
        fail(RedisError(.connectionLost, "The connection to \(parts.name) broke: \(error)."))
    }

    /// Ends the connection, or the attempt to connect, tells all callers, and waits for the next attempt.
    private func fail(_ error: RedisError) {
        drop(error)
        phase = .pausing(until: .now + attempts.fail(), error)
        parts.observer(.disconnected(error))
    }

    /// Ends the connection if it is open; the next attempt to connect follows.
    func giveUp(_ reason: String) {
        if case .open = phase {
            fail(RedisError(.connectionLost, "The connection to \(parts.name) was closed: \(reason)."))
        }
    }

    private func end() {
        drop(RedisError(.closed, "The connection is closed."))
        phase = .over
    }

    private func drop(_ error: RedisError) {
        phase.close(discardsOutput: error.code != .closed)
        decoder = RedisDecoder(limits: settings.decoding)
        output = RedisOutput()
        held = nil
        calls.failAll { isSent in RedisError(error.code, mayHaveRun: isSent, error.message) }
    }
}
