import Foundation
import RedisWire
import Synchronization

/// Stands between a connection and a server, and spoils what the server sends.
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
    }

    package let port: UInt16
    private let listener: LoopbackSocket
    private let server: UInt16
    private let current: Mutex<Fault>
    private let sockets = Mutex<[LoopbackSocket]>([])

    package init(to server: UInt16, _ fault: Fault = .none) throws {
        (listener, port) = try LoopbackSocket.listen()
        self.server = server
        current = Mutex(fault)
        Thread { [self] in
            while let client = listener.accept() { serve(client) }
        }.start()
    }

    package var endpoint: RedisEndpoint { .tcp(host: "127.0.0.1", port: port) }

    package var fault: Fault {
        get { current.withLock { $0 } }
        set { current.withLock { $0 = newValue } }
    }

    /// Ends the proxy and its connections.
    package func end() {
        listener.shutDown()
        for socket in sockets.withLock({ $0 }) { socket.shutDown() }
    }

    private func serve(_ client: LoopbackSocket) {
        guard let server = try? LoopbackSocket(connectingTo: server) else { return client.shutDown() }
        sockets.withLock { $0 += [client, server] }
        Thread {
            while case let bytes = client.read(), !bytes.isEmpty, server.write(bytes) {}
            server.shutDown()
        }.start()
        Thread { [self] in
            var passed = 0
            while case let bytes = server.read(), !bytes.isEmpty, pass(bytes, to: client, &passed) {}
            client.shutDown()
            server.shutDown()
        }.start()
    }

    /// Returns whether to go on.
    private func pass(_ bytes: [UInt8], to client: LoopbackSocket, _ passed: inout Int) -> Bool {
        switch fault {
        case .none: return client.write(bytes)
        case .split: return bytes.allSatisfy { client.write([$0]) }
        case .stall:
            while case .stall = fault { usleep(1_000) }
            return client.write(bytes)
        case .cut(let count):
            let rest = bytes.prefix(count - passed)
            passed += rest.count
            guard client.write(rest) else { return false }
            if passed < count { return true }
            fault = .none
            return false
        case .replace(let other):
            fault = .none
            _ = client.write(other)
            return true
        }
    }
}
