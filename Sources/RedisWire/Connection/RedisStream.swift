/// The bytes of one connected socket, encrypted if there is a cipher. It never blocks.
final class RedisStream {
    private let socket: Socket
    private let cipher: (any StreamCipher)?
    /// Encrypted bytes that the socket has not taken.
    private var unwritten = RedisOutput()

    /// Encrypted bytes of one step: with a full socket, no more of them wait.
    private static let partLength = 1 << 16
    /// A server that has more answers to its demands (new keys, say) wait for it reads none of them.
    private static let mostUnwritten = 1 << 20
    /// Reads of one call, so that other connections come to their turn; the socket tells of the rest.
    private static let mostReads = 16

    /// - Parameter cipher: `nil` for a stream that is not encrypted.
    init(_ socket: Socket, _ cipher: (any StreamCipher)?) {
        self.socket = socket
        self.cipher = cipher
    }

    var descriptor: Int32 { socket.descriptor }

    /// Whether bytes wait for the socket, other than those of an output.
    var hasUnwritten: Bool { !unwritten.isEmpty }

    /// Whether ``read(into:)`` may have more although the socket has none.
    private(set) var mayHoldInput = false

    /// Goes on with the handshake.
    ///
    /// - Parameter buffer: for bytes on their way.
    /// - Returns: whether the stream can be used.
    func shakeHands(_ buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> Bool {
        guard let cipher else { return true }
        for _ in 0..<Self.mostReads {
            let isDone: Bool
            do throws(SocketError) {
                isDone = try cipher.shakeHands()
            } catch {
                // The reason for the server; that the handshake failed counts more than that this did not reach it.
                _ = try? flush(cipher)
                throw error
            }
            _ = try flush(cipher)
            if isDone { return true }
            switch try socket.read(into: buffer) {
            case .bytes(let count): try cipher.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock: return false
            case .end: throw .closed
            }
        }
        return false
    }

    /// - Parameter fromSocket: whether the socket may be read, or only bytes that the stream holds already.
    func read(
        into buffer: UnsafeMutableRawBufferPointer,
        fromSocket: Bool = true
    ) throws(SocketError) -> Socket.Transfer {
        guard let cipher else { return fromSocket ? try socket.read(into: buffer) : .wouldBlock }
        for _ in 0..<Self.mostReads {
            let decrypted = try cipher.decrypt(into: buffer)
            _ = try flush(cipher)
            if case .bytes = decrypted {
                mayHoldInput = true
                return decrypted
            }
            mayHoldInput = false
            if case .end = decrypted { return .end }
            guard fromSocket else { break }
            let received = try socket.read(into: buffer)
            guard case .bytes(let count) = received else { return received }
            try cipher.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
        return .wouldBlock
    }

    /// Writes as many bytes as the socket takes, of this stream and of `output`.
    func write(_ output: inout RedisOutput) throws(SocketError) {
        guard let cipher else { return try output.write { bytes throws(SocketError) in try socket.write(bytes) } }
        do throws(SocketError) {
            try output.write { bytes throws(SocketError) in
                guard try flush(cipher) else { return .wouldBlock }
                let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.partLength))
                try cipher.encrypt(part)
                return .bytes(part.count)
            }
            _ = try flush(cipher)
        } catch {
            throw alert(cipher, insteadOf: error)
        }
    }

    /// The server's reason for closing, if it has sent one: it refuses a client's certificate after the handshake.
    private func alert(_ cipher: any StreamCipher, insteadOf error: SocketError) -> SocketError {
        if error.isOfTLS { return error }
        return withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { buffer in
            do throws(SocketError) {
                for _ in 0..<Self.mostReads {
                    guard case .bytes(let count) = try socket.read(into: buffer) else { break }
                    try cipher.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                    _ = try cipher.decrypt(into: buffer)
                }
            } catch let other where other.isOfTLS {
                return other
            } catch {
                // Nothing more can be read.
            }
            return error
        }
    }

    /// Returns whether the socket has taken everything.
    private func flush(_ cipher: any StreamCipher) throws(SocketError) -> Bool {
        unwritten.append(cipher.takeOutput())
        try unwritten.write { bytes throws(SocketError) in try socket.write(bytes) }
        if unwritten.count > Self.mostUnwritten {
            throw SocketError(tls: "the server demands answers, and does not read them")
        }
        return unwritten.isEmpty
    }

    /// - Parameter discardsOutput: whether bytes that are on their way are thrown away: see ``Socket/abort()``.
    func close(discardsOutput: Bool = false) {
        if discardsOutput { return socket.abort() }
        if let cipher {
            cipher.end()
            // A farewell; the server sees the end of the connection anyway.
            _ = try? flush(cipher)
        }
        socket.close()
    }
}
