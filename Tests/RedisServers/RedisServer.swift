import Foundation
import RedisWire
import Synchronization
import TestSupport

/// A server of its own for a test, on a free port and a socket. It keeps nothing on disk.
package final class RedisServer: Sendable {
    package static let isInstalled = executable != nil

    private static let executable: URL? =
        ["redis-server", "valkey-server"].lazy.flatMap { name in
            ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
        }.first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    /// Whether encrypted connections to a server can be tested: by a build with TLS, a server with TLS, and the command
    /// `openssl`.
    package static let canEncrypt = RedisTLSSettings.isSupported && TestCertificates.canBeMade && speaksTLS

    private static let speaksTLS: Bool = {
        let directory = TestDirectory()
        guard isInstalled,
            let (process, socket) = try? launch(0, ["--tls-port", "0"], in: directory.url)
        else { return false }
        try? wait(until: !process.isRunning || LoopbackSocket.isListening(atPath: socket))
        defer { process.terminate() }
        return process.isRunning
    }()

    package let port: UInt16
    private let directory = TestDirectory()
    private let arguments: [String]
    private let process = Mutex<Process?>(nil)

    package init(_ arguments: [String] = []) async throws {
        self.arguments = arguments
        while true {
            // Below the ports that the system gives to clients: one that waits for the server could get the same port,
            // and would be connected with itself.
            let port = UInt16.random(in: 20_000..<30_000)
            if let process = try await Self.start(port, arguments, in: directory.url) {
                self.port = port
                self.process.withLock { $0 = process }
                return
            }
        }
    }

    /// A server for tests that are not asynchronous, each of which has names of its own; `nil` if none is installed. It
    /// ends with the process.
    package static let common: RedisServer? = {
        // Static values are not released.
        atexit { RedisServer.common?.kill() }
        return isInstalled ? try? RedisServer(blocking: []) : nil
    }()

    /// Starts a server, and blocks until it listens.
    ///
    /// - Parameters:
    ///   - arguments: for the server.
    ///   - ports: to choose one of.
    init(blocking arguments: [String], ports: Range<UInt16> = 20_000..<30_000) throws {
        self.arguments = arguments
        while true {
            let port = UInt16.random(in: ports)
            let (new, socket) = try Self.launch(port, arguments, in: directory.url)
            try wait(until: !new.isRunning || LoopbackSocket.isListening(atPath: socket))
            guard new.isRunning else { continue }
            self.port = port
            process.withLock { $0 = new }
            return
        }
    }

    /// A server that speaks TLS at its port.
    ///
    /// - Parameter demandsCertificates: whether clients must have certificates by `authority`.
    package convenience init(
        _ arguments: [String] = [],
        certificate: TestCertificates.Certificate,
        authority: TestCertificates.Certificate,
        demandsCertificates: Bool = false
    ) async throws {
        try await self.init(
            arguments + Self.encryption(certificate, authority: authority, demandsCertificates: demandsCertificates)
        )
    }

    /// Arguments with which a server has TLS only at its port.
    static func encryption(
        _ certificate: TestCertificates.Certificate,
        authority: TestCertificates.Certificate,
        demandsCertificates: Bool = false
    ) -> [String] {
        ["--tls-cert-file", certificate.path, "--tls-key-file", certificate.key]
            + ["--tls-ca-cert-file", authority.path, "--tls-auth-clients", demandsCertificates ? "yes" : "no"]
    }

    deinit { kill() }

    package var endpoint: RedisEndpoint { .tcp(host: "127.0.0.1", port: port) }
    package var socket: RedisEndpoint { .unix(path: directory.url.appending(path: "s").path) }

    /// Starts the server again after ``kill()``, at the same port.
    package func start() async throws {
        guard let new = try await Self.start(port, arguments, in: directory.url) else { throw ServerError() }
        process.withLock { $0 = new }
    }

    /// As ``start()``, but blocks.
    package func startAgain() throws {
        let (new, socket) = try Self.launch(port, arguments, in: directory.url)
        try wait(until: !new.isRunning || LoopbackSocket.isListening(atPath: socket))
        guard new.isRunning else { throw ServerError() }
        process.withLock { $0 = new }
    }

    /// Starts a server and waits until it listens; `nil` if it ends first, as it does when another one has the port.
    private static func start(_ port: UInt16, _ arguments: [String], in directory: URL) async throws -> Process? {
        let (new, socket) = try launch(port, arguments, in: directory)
        try await wait(until: !new.isRunning || LoopbackSocket.isListening(atPath: socket))
        return new.isRunning ? new : nil
    }

    private static func launch(
        _ port: UInt16,
        _ arguments: [String],
        in directory: URL
    ) throws -> (process: Process, socket: String) {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let socket = directory.appending(path: "s").path
        // The server makes it when it listens at the port.
        if FileManager.default.fileExists(atPath: socket) { try FileManager.default.removeItem(atPath: socket) }
        let new = Process()
        new.executableURL = executable
        new.currentDirectoryURL = directory
        // A file of settings comes first.
        let files = Array(arguments.prefix { !$0.hasPrefix("-") })
        let isEncrypted = arguments.contains("--tls-cert-file")
        new.arguments =
            files
            + (isEncrypted ? ["--port", "0", "--tls-port", "\(port)"] : ["--port", "\(port)"])
            + ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
            + ["--unixsocket", socket, "--dir", directory.path] + arguments.dropFirst(files.count)
        new.standardOutput = FileHandle.nullDevice
        new.standardError = FileHandle.nullDevice
        try new.start()
        return (new, socket)
    }

    package func kill() {
        signal(SIGKILL)
        process.withLock { process in
            process?.waitUntilExit()
            process = nil
        }
    }

    package func signal(_ number: Int32) {
        process.withLock { process in
            if let process, process.isRunning { _ = Foundation.kill(process.processIdentifier, number) }
        }
    }

    /// Stops the server while `body` runs: it accepts connections still, and answers nothing.
    package func stopped(_ body: () async throws -> Void) async rethrows {
        signal(SIGSTOP)
        defer { signal(SIGCONT) }
        try await body()
    }

    package struct ServerError: Error {}
}
