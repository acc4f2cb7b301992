import Foundation
import TestSupport

/// A blocking TCP socket on this machine.
package struct LoopbackSocket: Sendable {
    let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    private static func make(_ family: Int32 = AF_INET) throws -> Int32 {
        try openingDescriptors {
            #if canImport(Darwin)
                let descriptor = socket(family, SOCK_STREAM, 0)
            #else
                let descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
            #endif
            if descriptor < 0 { throw Failure(number: errno) }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            return descriptor
        }
    }

    private static func withAddress(
        _ port: UInt16,
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) throws -> UInt16 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        if status != 0 { throw Failure(number: errno) }
        return UInt16(bigEndian: address.sin_port)
    }

    package init(connectingTo port: UInt16) throws {
        descriptor = try Self.make()
        do {
            _ = try Self.withAddress(port) { [descriptor] in connect(descriptor, $0, $1.pointee) }
            Self.sendAtOnce(descriptor)
        } catch {
            close()
            throw error
        }
    }

    /// Otherwise small writes wait until the other side has acknowledged those before them, which may take 40 ms.
    private static func sendAtOnce(_ descriptor: Int32) {
        var isOn: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Whether a server accepts connections at a Unix domain socket. The socket's file is there a moment earlier.
    static func isListening(atPath path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard path.utf8.count < place.count else { return false }
            place.copyBytes(from: path.utf8)
            return true
        }
        guard fits, let descriptor = try? make(AF_UNIX) else { return false }
        defer { _ = Foundation.close(descriptor) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        } == 0
    }

    /// Listens at a free port.
    ///
    /// - Parameter backlog: how many connections may wait to be accepted; the system drops the packets of further ones.
    package static func listen(backlog: Int32 = 64) throws -> (socket: LoopbackSocket, port: UInt16) {
        let descriptor = try make()
        _ = try withAddress(0) { bind(descriptor, $0, $1.pointee) }
        guard Foundation.listen(descriptor, backlog) == 0 else { throw Failure(number: errno) }
        return (LoopbackSocket(descriptor: descriptor), try withAddress(0) { getsockname(descriptor, $0, $1) })
    }

    /// The next connection; `nil` once the socket is shut down.
    package func accept() -> LoopbackSocket? {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, -1) < 0, errno == EINTR {}
        let accepted = openingDescriptors {
            let accepted = Foundation.accept(descriptor, nil, nil)
            _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
            return accepted
        }
        Self.sendAtOnce(accepted)
        return accepted < 0 ? nil : LoopbackSocket(descriptor: accepted)
    }

    /// Waits for bytes; none at the end.
    package func read() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = max(0, Foundation.read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    /// Reads to the end; returns whether the other side has thrown its bytes away there.
    package func isResetAtEnd() -> Bool {
        while !read().isEmpty {}
        return errno == ECONNRESET
    }

    /// Returns whether all bytes were written.
    package func write(_ bytes: some Collection<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            #if canImport(Darwin)
                let flags: Int32 = 0
            #else
                let flags = Int32(MSG_NOSIGNAL)
            #endif
            let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Ends all reading and writing, also by other threads.
    package func shutDown() { _ = shutdown(descriptor, 2) }

    package func close() { _ = Foundation.close(descriptor) }

    struct Failure: Error { let number: Int32 }
}
