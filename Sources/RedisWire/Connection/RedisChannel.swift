import Foundation

/// One connection as its thread sees it: connects, greets, sends calls, reads answers, and connects again when it broke.
final class RedisChannel {
    /// The parts of a channel.
    struct Parts: Sendable {
        let endpoint: RedisEndpoint
        let settings: RedisSettings
        let inbox: RedisInbox
        let observer: @Sendable (RedisEvent) -> Void
    }

    typealias Instant = ContinuousClock.Instant

    private enum Phase {
        /// Until the next attempt to connect; the error of the last one.
        case pausing(until: Instant, RedisError)
        case resolving(attempt: Int, until: Instant)
        case connecting(Socket, others: ArraySlice<SocketAddress>, until: Instant)
        case greeting(Socket, RedisGreeting, until: Instant)
        case open(Socket)
        case over
    }

    private let parts: Parts
    private let thread: RedisThread
    private var phase: Phase
    private var calls = PendingCalls()
    private var output = RedisOutput()
    private var decoder: RedisDecoder
    private var attempt = 0
    /// Failed attempts since the last success.
    private var failures = 0
    /// When the server last sent something, or began to owe an answer.
    private var lastSign = Instant.now
    private var random = SystemRandomNumberGenerator()

    private var settings: RedisSettings { parts.settings }

    init(_ parts: Parts, thread: RedisThread) {
        self.parts = parts
        self.thread = thread
        decoder = RedisDecoder(limits: parts.settings.decoding)
        phase = .over
        connect(at: .now)
    }

    var isOver: Bool {
        if case .over = phase { true } else { false }
    }

    /// The event that the thread waits for; `nil` for none.
    var poll: pollfd? {
        switch phase {
        case .connecting(let socket, _, _): pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        case .greeting(let socket, _, _), .open(let socket):
            pollfd(
                fd: socket.descriptor,
                events: Int16(output.isEmpty ? POLLIN : POLLIN | POLLOUT),
                revents: 0
            )
        case .pausing, .resolving, .over: nil
        }
    }

    // MARK: Time

    /// When ``act(at:)`` is to be called at the latest.
    var nextDeadline: Instant? {
        let own: Instant? =
            switch phase {
            case .pausing(let until, _), .resolving(_, let until), .connecting(_, _, let until),
                .greeting(_, _, let until):
                until
            case .open: lastSign + (calls.hasSent ? settings.timeouts.hard : settings.timeouts.silence)
            case .over: nil
            }
        guard let call = calls.deadline else { return own }
        return own.map { min($0, call) } ?? call
    }

    /// Does all work that is due.
    func act(at now: Instant) {
        let endpoint = parts.endpoint
        let timeouts = settings.timeouts
        calls.failLate(at: now) { isSent in
            let message =
                isSent
                ? "\(endpoint) gave no answer in time." : "\(endpoint) was not reached in time."
            return RedisError(.timeout, mayHaveRun: isSent, message)
        }
        switch phase {
        case .pausing(let until, _) where until <= now: connect(at: now)
        case .resolving(_, let until) where until <= now, .connecting(_, _, let until) where until <= now,
            .greeting(_, _, let until) where until <= now:
            fail(RedisError(.notConnected, "\(endpoint) cannot be reached within \(timeouts.connect)."))
        case .open:
            if calls.hasSent, lastSign + timeouts.hard <= now {
                fail(RedisError(.connectionLost, "\(endpoint) owed an answer for \(timeouts.hard)."))
            } else if !calls.hasSent, lastSign + timeouts.silence <= now {
                calls.append(.ping(until: now + timeouts.soft))
            }
        case .pausing, .resolving, .connecting, .greeting, .over: break
        }
        send()
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

    /// Writes calls as far as limits and the socket allow.
    private func send() {
        guard case .open(let socket) = phase else { return }
        while output.count < settings.limits.unwrittenBytes {
            let owedNothing = !calls.hasSent
            guard let call = calls.nextToSend(room: settings.limits.commands) else { break }
            if owedNothing { lastSign = .now }
            output.append(call.bytes)
            parts.inbox.sentByteCount.add(call.bytes.count, ordering: .relaxed)
        }
        _ = write(to: socket)
    }

    /// Writes as many bytes as the socket takes; returns whether the connection is still there.
    private func write(to socket: Socket) -> Bool {
        do throws(SocketError) {
            try output.write(to: socket)
            return true
        } catch {
            lose(error.description)
            return false
        }
    }

    // MARK: The socket

    /// Called when the socket can be read or written, or has failed.
    func isReady(_ events: Int16, _ buffer: UnsafeMutableRawBufferPointer) {
        switch phase {
        case .connecting(let socket, let others, let until):
            if let failure = socket.failure() {
                socket.close()
                connect(to: others, until: until, after: failure)
            } else {
                let greeting = RedisGreeting(settings)
                output.append(greeting.bytes)
                phase = .greeting(socket, greeting, until: until)
                _ = write(to: socket)
            }
        case .greeting(let socket, _, _), .open(let socket):
            if events & Int16(POLLOUT) != 0, !write(to: socket) { return }
            if events & ~Int16(POLLOUT) != 0 { read(from: socket, buffer) }
        case .pausing, .resolving, .over: break
        }
    }

    private func read(from socket: Socket, _ buffer: UnsafeMutableRawBufferPointer) {
        do throws(SocketError) {
            // Not for ever: other connections wait, and a later look finds the rest.
            for _ in 0..<16 {
                switch try socket.read(into: buffer) {
                case .wouldBlock: return
                case .end: return lose("the server has closed the connection")
                case .bytes(let count):
                    lastSign = .now
                    parts.inbox.receivedByteCount.add(count, ordering: .relaxed)
                    decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    guard take(from: socket) else { return }
                    if count < buffer.count { return }
                }
            }
        } catch {
            lose(error.description)
        }
    }

    /// Takes all values that have come; returns whether the connection is still there.
    private func take(from socket: Socket) -> Bool {
        do {
            while let value = try decoder.next() {
                if case .push(let elements) = value {
                    parts.observer(.push(elements))
                    continue
                }
                if case .greeting(_, var greeting, let until) = phase {
                    if let server = try greeting.take(value) {
                        phase = .open(socket)
                        failures = 0
                        parts.observer(.connected(server))
                    } else {
                        phase = .greeting(socket, greeting, until: until)
                    }
                } else if !calls.take(value) {
                    throw RedisError(.malformed, "\(parts.endpoint) sent an answer that nothing asked for.")
                }
            }
            return true
        } catch let error as RedisError {
            fail(error)
        } catch {
            fail(RedisError(.malformed, "\(parts.endpoint) sent what cannot be read: \(error)"))
        }
        return false
    }

    // MARK: Connecting

    private func connect(at now: Instant) {
        attempt += 1
        let until = now + settings.timeouts.connect
        phase = .resolving(attempt: attempt, until: until)
        let (thread, number, endpoint, attempt) = (thread, parts.inbox.number, parts.endpoint, attempt)
        // Names are resolved elsewhere: that waits for other servers.
        DispatchQueue.global(qos: .userInitiated).async {
            let addresses = Result { () throws(SocketError) in try Socket.addresses(of: endpoint) }
            thread.perform(for: number) { $0.connect(to: addresses, attempt: attempt) }
        }
    }

    private func connect(to addresses: Result<[SocketAddress], SocketError>, attempt: Int) {
        // Too late, if another attempt was begun.
        guard case .resolving(attempt, let until) = phase else { return }
        switch addresses {
        case .success(let addresses): connect(to: addresses[...], until: until, after: nil)
        case .failure(let error): fail(unreachable(error))
        }
    }

    /// Connects to the first of the addresses that takes it.
    private func connect(to addresses: ArraySlice<SocketAddress>, until: Instant, after failure: SocketError?) {
        var failure = failure
        var rest = addresses
        while let address = rest.popFirst() {
            do throws(SocketError) {
                phase = .connecting(try Socket(connectingTo: address), others: rest, until: until)
                return
            } catch {
                failure = error
            }
        }
        fail(unreachable(failure))
    }

    private func unreachable(_ error: SocketError?) -> RedisError {
        let reason = error?.description ?? "there is no address"
        return RedisError(.notConnected, "\(parts.endpoint) cannot be reached: \(reason).")
    }

    // MARK: The end

    private func lose(_ reason: String) {
        fail(RedisError(.connectionLost, "The connection to \(parts.endpoint) broke: \(reason)."))
    }

    /// Ends the connection, or the attempt to connect, tells all callers, and waits for the next attempt.
    private func fail(_ error: RedisError) {
        drop(error)
        failures += 1
        let pause = settings.backoff.pause(afterFailures: failures, using: &random)
        phase = .pausing(until: .now + pause, error)
        parts.observer(.disconnected(error))
    }

    private func end() {
        drop(RedisError(.closed, "The connection is closed."))
        phase = .over
    }

    private func drop(_ error: RedisError) {
        switch phase {
        case .connecting(let socket, _, _), .greeting(let socket, _, _), .open(let socket): socket.close()
        case .pausing, .resolving, .over: break
        }
        decoder = RedisDecoder(limits: settings.decoding)
        output = RedisOutput()
        calls.failAll { isSent in RedisError(error.code, mayHaveRun: isSent, error.message) }
    }
}
