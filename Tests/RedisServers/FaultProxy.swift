import Foundation
import RedisWire
import Synchronization

/// Stands between a connection and a server, and spoils the server's bytes.
package final class FaultProxy: Sendable {
    package enum Fault: Sendable {
        case none
        /// Each byte is sent alone.
        case split
        /// Nothing goes on, and nothing is closed.
        case stall
        /// After so many bytes of the server the connection is closed. The next one has no fault.
        case cut(after: Int)
        /// These bytes come instead of the next ones of the server. The next connection has no fault.
        case replace([UInt8])
        /// All bytes of the server come so much later.
        case delay(milliseconds: UInt32)
        /// Each 16 KiB of a connection take a millisecond, in both directions.
        case slow
    }

    /// The connections that faults are for.
    package enum Scope: Sendable {
        case all
        /// Those on which the client has sent such bytes.
        case with(String)
        /// Those on which it has not.
        case without(String)
    }

    private struct State {
        var fault: Fault
        var scope = Scope.all
    }

    package let port: UInt16
    private let listener: LoopbackSocket
    private let servers: [UInt16]
    private let connectionCount = Atomic<Int>(0)
    private let current: Mutex<State>
    private let sockets = Mutex<[LoopbackSocket]>([])
    private let received = Mutex<[UInt8]>([])
    private let slowBytes = Atomic<Int>(0)

    package convenience init(to server: UInt16, _ fault: Fault = .none) throws {
        try self.init(toEachOf: [server], fault)
    }

    /// The first connection leads to the first server, the next one to the second, and so on, then again to the first.
    package init(toEachOf servers: [UInt16], _ fault: Fault = .none) throws {
        (listener, port) = try LoopbackSocket.listen()
        self.servers = servers
        current = Mutex(State(fault: fault))
        Thread { [self] in
            while let client = listener.accept() { serve(client) }
        }.start()
    }

    package var endpoint: RedisEndpoint { .tcp(host: "127.0.0.1", port: port) }

    package var fault: Fault {
        get { current.withLock { $0.fault } }
        set { current.withLock { $0.fault = newValue } }
    }

    /// All by default. A text is found only if the client sent it in one piece.
    package var scope: Scope {
        get { current.withLock { $0.scope } }
        set { current.withLock { $0.scope = newValue } }
    }

    /// The texts of scopes that a client has sent.
    private final class Sent: Sendable {
        private let bytes = Mutex<[UInt8]>([])

        /// Remembers the first bytes, among which those of a connection's preparation are.
        func add(_ more: [UInt8]) {
            bytes.withLock { bytes in
                if bytes.count < 1 << 16 { bytes += more }
            }
        }

        func contains(_ text: String) -> Bool {
            bytes.withLock { String(decoding: $0, as: UTF8.self) }.contains(text)
        }
    }

    private func isSpoilt(_ sent: Sent) -> Bool {
        switch scope {
        case .all: true
        case .with(let text): sent.contains(text)
        case .without(let text): !sent.contains(text)
        }
    }

    /// The last bytes that clients have sent.
    package func lastReceived(_ count: Int) -> [UInt8] { received.withLock { $0.suffix(count) } }

    /// Ends the proxy and its connections.
    package func end() {
        // Threads that hold a connection's bytes back go on.
        fault = .none
        listener.shutDown()
        for socket in sockets.withLock({ $0 }) { socket.shutDown() }
    }

    private func serve(_ client: LoopbackSocket) {
        let number = connectionCount.add(1, ordering: .relaxed).oldValue
        guard let server = try? LoopbackSocket(connectingTo: servers[number % servers.count]) else {
            return client.shutDown()
        }
        sockets.withLock { $0 += [client, server] }
        let sent = Sent()
        Thread { [self] in
            while case let bytes = client.read(), !bytes.isEmpty {
                sent.add(bytes)
                received.withLock { $0 = ($0 + bytes.suffix(1 << 10)).suffix(1 << 10) }
                if case .slow = isSpoilt(sent) ? fault : .none {
                    if !writeSlowly(bytes, to: server) { break }
                } else if !server.write(bytes) {
                    break
                }
            }
            server.shutDown()
        }.start()
        Thread { [self] in
            var passed = 0
            while case let bytes = server.read(), !bytes.isEmpty, pass(bytes, to: client, passed: &passed, of: sent)
            {}
            waitWhileStalled(sent)
            client.shutDown()
            server.shutDown()
        }.start()
    }

    /// The bytes that have gone on slowly, in both directions.
    package var slowByteCount: Int { slowBytes.load(ordering: .relaxed) }

    private func writeSlowly(_ bytes: [UInt8], to socket: LoopbackSocket) -> Bool {
        stride(from: 0, to: bytes.count, by: 1 << 14).allSatisfy { start in
            let part = bytes[start..<min(start + 1 << 14, bytes.count)]
            usleep(UInt32(part.count >> 4))
            slowBytes.add(part.count, ordering: .relaxed)
            return socket.write(part)
        }
    }

    private func waitWhileStalled(_ sent: Sent) {
        while case .stall = fault, isSpoilt(sent) { usleep(1_000) }
    }

    /// Returns whether to go on.
    private func pass(
        _ bytes: [UInt8],
        to client: LoopbackSocket,
        passed: inout Int,
        of sent: Sent
    ) -> Bool {
        switch isSpoilt(sent) ? fault : .none {
        case .none: return client.write(bytes)
        case .split: return bytes.allSatisfy { client.write([$0]) }
        case .stall:
            waitWhileStalled(sent)
            return client.write(bytes)
        case .cut(let count):
            // More may have passed by an earlier cut, which another connection was the first to suffer.
            let rest = bytes.prefix(max(0, count - passed))
            passed += rest.count
            guard client.write(rest) else { return false }
            if passed < count { return true }
            fault = .none
            return false
        case .replace(let other):
            fault = .none
            _ = client.write(other)
            return true
        case .delay(let milliseconds):
            usleep(milliseconds * 1_000)
            return client.write(bytes)
        case .slow: return writeSlowly(bytes, to: client)
        }
    }
}
