import RedisServers
import Testing

@testable import RedisWire

/// A connected socket's bytes behind a cipher.
struct StreamTests {
    /// A cipher that changes nothing, and gives a few bytes at a time.
    private final class PlainCipher: StreamCipher {
        private var received: [UInt8] = []

        func shakeHands() -> Bool { true }
        func receive(_ bytes: UnsafeRawBufferPointer) { received += bytes }

        func decrypt(into buffer: UnsafeMutableRawBufferPointer) -> Socket.Transfer {
            if received.isEmpty { return .wouldBlock }
            let part = received.prefix(min(3, buffer.count))
            buffer.copyBytes(from: part)
            received.removeFirst(part.count)
            return .bytes(part.count)
        }

        func encrypt(_ bytes: UnsafeRawBufferPointer) {}
        func end() {}
        func takeOutput() -> [UInt8] { [] }
    }

    /// Otherwise a server that always sends more holds up all other connections of the thread.
    @Test func heldBytesAreReadWithoutTheSocket() throws {
        let (listener, port) = try LoopbackSocket.listen()
        defer { listener.close() }
        let addresses = try Socket.addresses(of: .tcp(host: "127.0.0.1", port: port))
        let socket = try Socket(connectingTo: try #require(addresses.first))
        let server = try #require(listener.accept())
        defer { server.close() }
        let stream = RedisStream(socket, PlainCipher())
        defer { stream.close() }
        #expect(server.write(Array(0..<10)))
        var read: [UInt8] = []
        try withUnsafeTemporaryAllocation(byteCount: 10, alignment: 1) { buffer in
            func take(fromSocket: Bool) throws -> Bool {
                guard case .bytes(let count) = try stream.read(into: buffer, fromSocket: fromSocket) else {
                    return false
                }
                read += buffer[..<count]
                return true
            }
            while try !take(fromSocket: true) {}
            #expect(stream.mayHoldInput && read == [0, 1, 2])
            #expect(server.write(Array(10..<20)))
            while try take(fromSocket: false) {}
            #expect(!stream.mayHoldInput && read == Array(0..<10))
            while read.count < 20 { _ = try take(fromSocket: true) }
            #expect(read == Array(0..<20))
        }
    }
}
