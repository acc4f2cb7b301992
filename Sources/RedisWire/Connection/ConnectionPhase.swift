import Foundation

/// The phase of a connection between its attempts to connect and its end.
enum ConnectionPhase {
    typealias Instant = ContinuousClock.Instant

    /// Until the next attempt to connect; the error of the last one.
    case pausing(until: Instant, RedisError)
    /// Until the server's addresses are known.
    case resolving(until: Instant)
    /// To one address until an instant, then to the next ones until the end.
    case connecting(Socket, until: Instant, others: ArraySlice<SocketAddress>, end: Instant)
    /// The handshake of TLS.
    case securing(RedisStream, until: Instant)
    case greeting(RedisStream, RedisGreeting, until: Instant)
    case open(RedisStream)
    case over

    var isOver: Bool {
        if case .over = self { true } else { false }
    }

    /// The end of the phase, if nothing ends it before; `nil` for one that time alone does not end.
    var deadline: Instant? {
        switch self {
        case .pausing(let until, _), .resolving(let until), .connecting(_, let until, _, _),
            .securing(_, let until), .greeting(_, _, let until):
            until
        case .open, .over: nil
        }
    }

    /// The event that the thread waits for; `nil` for none.
    ///
    /// - Parameters:
    ///   - hasOutput: whether bytes wait to be written to the stream.
    ///   - awaitsInput: whether the thread reads the input of an open stream. The system tells it of the stream's end anyway.
    func poll(hasOutput: Bool, awaitsInput: Bool) -> pollfd? {
        switch self {
        case .connecting(let socket, _, _, _): pollfd(fd: socket.descriptor, events: Int16(POLLOUT), revents: 0)
        case .open(let stream) where !awaitsInput && !hasOutput && !stream.hasUnwritten:
            pollfd(fd: stream.descriptor, events: Self.end, revents: 0)
        case .securing(let stream, _), .greeting(let stream, _, _), .open(let stream):
            pollfd(
                fd: stream.descriptor,
                events: Int16(hasOutput || stream.hasUnwritten ? POLLIN | POLLOUT : POLLIN),
                revents: 0
            )
        case .pausing, .resolving, .over: nil
        }
    }

    #if os(Linux)
        /// `POLLRDHUP`: the other side has closed.
        private static let end: Int16 = 0x2000
    #else
        private static let end = Int16(POLLIN)
    #endif

    /// Closes the socket, if there is one.
    ///
    /// - Parameter discardsOutput: whether an open stream drops its unwritten bytes.
    func close(discardsOutput: Bool) {
        switch self {
        case .connecting(let socket, _, _, _): socket.close()
        case .securing(let stream, _), .greeting(let stream, _, _): stream.close()
        case .open(let stream): stream.close(discardsOutput: discardsOutput)
        case .pausing, .resolving, .over: break
        }
    }
}
