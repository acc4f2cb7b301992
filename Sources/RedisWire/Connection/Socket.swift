import Foundation

/// A stream socket that never blocks. It has one owner, which closes it once.
///
/// Unsafe code, and why it is sound: the system is given buffers with their lengths, of memory that lives until the call
/// returns. Addresses are made by `getaddrinfo` and freed after the last use, or a `sockaddr_un` whose path was
/// checked to fit with its zero.
struct Socket {
    let descriptor: Int32

    /// The outcome of a call that never blocks.
    enum Transfer {
        case bytes(Int)
        /// Nothing can be transferred now.
        case wouldBlock
        /// The other side has closed.
        case end
    }

    // MARK: Opening

    /// The addresses of an endpoint. Blocks while names are resolved.
    ///
    /// - Throws: ``SocketError``.
    static func addresses(of endpoint: RedisEndpoint) throws(SocketError) -> [SocketAddress] {
        switch endpoint {
        case .unix(let path): return [try .unix(path: path)]
        case .tcp(let host, let port):
            var hints = addrinfo()
            hints.ai_family = AF_UNSPEC
            hints.ai_socktype = Self.stream
            var list: UnsafeMutablePointer<addrinfo>?
            let status = getaddrinfo(host, String(port), &hints, &list)
            defer { if let list { freeaddrinfo(list) } }
            guard status == 0, let list else {
                throw SocketError("resolving \(host)", gai_strerror(status).map { String(cString: $0) } ?? "")
            }
            return sequence(first: list) { $0.pointee.ai_next }.map { entry in
                let info = entry.pointee
                let bytes = UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen))
                return SocketAddress(family: info.ai_family, bytes: Array(bytes))
            }
        }
    }

    /// Begins to connect. The socket can be written once it is connected, or has failed: see ``failure()``.
    init(connectingTo address: SocketAddress) throws(SocketError) {
        descriptor = socket(address.family, Self.stream | Self.closedInChildren, 0)
        guard descriptor >= 0 else { throw SocketError("making a socket", errno) }
        do throws(SocketError) {
            try Self.prepare(descriptor)
            if address.family != AF_UNIX { try set(Int32(IPPROTO_TCP), TCP_NODELAY) }
            #if canImport(Darwin)
                try set(SOL_SOCKET, SO_NOSIGPIPE)
            #endif
            let status = address.bytes.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return Int32(-1) }
                return connect(
                    descriptor,
                    start.assumingMemoryBound(to: sockaddr.self),
                    socklen_t(bytes.count)
                )
            }
            // A full queue of a socket's listener is EAGAIN: it will not call again.
            if status != 0, errno != EINPROGRESS, errno != EINTR { throw SocketError("connecting", errno) }
        } catch {
            close()
            throw error
        }
    }

    /// Both ends of a pipe: bytes go from the second to the first.
    static func pipe() throws(SocketError) -> (reader: Socket, writer: Socket) {
        var ends: [Int32] = [-1, -1]
        guard Foundation.pipe(&ends) == 0 else { throw SocketError("making a pipe", errno) }
        let (reader, writer) = (Socket(descriptor: ends[0]), Socket(descriptor: ends[1]))
        do throws(SocketError) {
            for end in ends { try prepare(end) }
        } catch {
            reader.close()
            writer.close()
            throw error
        }
        return (reader, writer)
    }

    private init(descriptor: Int32) { self.descriptor = descriptor }

    private static func prepare(_ descriptor: Int32) throws(SocketError) {
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
        else { throw SocketError("preparing a socket", errno) }
    }

    private func set(_ level: Int32, _ option: Int32) throws(SocketError) {
        var isOn: Int32 = 1
        guard setsockopt(descriptor, level, option, &isOn, socklen_t(MemoryLayout<Int32>.size)) == 0 else {
            throw SocketError("preparing a socket", errno)
        }
    }

    #if canImport(Darwin)
        private static let stream = SOCK_STREAM
        private static let closedInChildren: Int32 = 0
        private static let sendingFlags: Int32 = 0
    #else
        private static let stream = Int32(SOCK_STREAM.rawValue)
        // From its first moment: another thread may start a process.
        private static let closedInChildren = Int32(SOCK_CLOEXEC.rawValue)
        private static let sendingFlags = Int32(MSG_NOSIGNAL)
    #endif

    /// Why connecting failed; `nil` if it did not.
    func failure() -> SocketError? {
        var number: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0 else {
            return SocketError("connecting", errno)
        }
        return number == 0 ? nil : SocketError("connecting", number)
    }

    // MARK: Bytes

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> Transfer {
        try transfer("reading") { Foundation.read(descriptor, buffer.baseAddress, buffer.count) }
    }

    /// Writes bytes to a connected socket. A closed one is an error, and no signal.
    func write(_ bytes: UnsafeRawBufferPointer) throws(SocketError) -> Transfer {
        try transfer("writing") { send(descriptor, bytes.baseAddress, bytes.count, Self.sendingFlags) }
    }

    /// Writes a byte to a pipe that is read; a full one needs no more.
    func writeByteToPipe() {
        var byte: UInt8 = 0
        _ = Foundation.write(descriptor, &byte, 1)
    }

    /// Reads all bytes that are in a pipe.
    func drainPipe(_ buffer: UnsafeMutableRawBufferPointer) {
        while Foundation.read(descriptor, buffer.baseAddress, buffer.count) == buffer.count {}
    }

    private func transfer(_ action: String, _ call: () -> Int) throws(SocketError) -> Transfer {
        while true {
            let count = call()
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EAGAIN || errno == EWOULDBLOCK { return .wouldBlock }
            guard errno == EINTR else { throw SocketError(action, errno) }
        }
    }

    /// Gives the descriptor back to the system. A second call might close a file that another thread has opened since.
    func close() {
        let status = Foundation.close(descriptor)
        assert(status == 0 || errno != EBADF, "a socket is closed twice")
    }

    /// Closes a connected socket, and has the system throw away the bytes that the other side has not got yet. Otherwise
    /// it would send them for as long as it takes, and an abandoned command could overtake later ones of another
    /// connection.
    func abort() {
        var option = linger(l_onoff: 1, l_linger: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }
}

/// An address as the system has it.
struct SocketAddress: Sendable {
    let family: Int32
    let bytes: [UInt8]

    static func unix(path: String) throws(SocketError) -> SocketAddress {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard path.count < room.count else { return false }
            room.copyBytes(from: path)
            return true
        }
        guard fits else { throw SocketError("connecting", ENAMETOOLONG) }
        return SocketAddress(family: AF_UNIX, bytes: withUnsafeBytes(of: address) { Array($0) })
    }
}

/// A failure of the system's sockets, or of TLS above them.
struct SocketError: Error, Equatable, CustomStringConvertible {
    let description: String
    let isOfTLS: Bool

    /// The other side has closed the connection.
    static let closed = SocketError(description: "the server has closed the connection", isOfTLS: false)

    init(tls reason: String) { self.init(description: reason, isOfTLS: true) }

    private init(description: String, isOfTLS: Bool) {
        self.description = description
        self.isOfTLS = isOfTLS
    }

    init(_ action: String, _ reason: String) { self.init(description: "\(action): \(reason)", isOfTLS: false) }
    init(_ action: String, _ number: Int32) { self.init(action, String(cString: strerror(number))) }
}
