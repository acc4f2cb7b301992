import Foundation
import RedisWire
import Synchronization
import TestSupport

/// A server of its own for a test, on a free port and a socket. It keeps nothing on disk.
final class RedisServer: Sendable {
    static let isInstalled = executable != nil

    private static let executable: URL? =
        ["redis-server", "valkey-server"].lazy.flatMap { name in
            ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
        }.first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    let port: UInt16
    private let directory = TestDirectory()
    private let arguments: [String]
    private let process = Mutex<Process?>(nil)

    init(_ arguments: [String] = []) async throws {
        self.arguments = arguments
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        while true {
            // Below the ports that the system gives to clients: one that waits for the server could get the same port,
            // and would be connected with itself.
            let port = UInt16.random(in: 20_000..<30_000)
            if let process = try await Self.start(port, arguments, directory.url) {
                self.port = port
                self.process.withLock { $0 = process }
                return
            }
        }
    }

    deinit { kill() }

    var endpoint: RedisEndpoint { .tcp(host: "127.0.0.1", port: port) }
    var socket: RedisEndpoint { .unix(path: directory.url.appending(path: "s").path) }

    /// Starts the server again after ``kill()``, at the same port.
    func start() async throws {
        guard let new = try await Self.start(port, arguments, directory.url) else { throw ServerError() }
        process.withLock { $0 = new }
    }

    /// Starts a server and waits until it listens; `nil` if it ends first, as it does when another one has the port.
    private static func start(_ port: UInt16, _ arguments: [String], _ directory: URL) async throws -> Process? {
        let socket = directory.appending(path: "s").path
        // The server makes it when it listens at the port.
        if FileManager.default.fileExists(atPath: socket) { try FileManager.default.removeItem(atPath: socket) }
        let new = Process()
        new.executableURL = executable
        new.arguments =
            ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
            + ["--unixsocket", socket, "--dir", directory.path] + arguments
        new.standardOutput = FileHandle.nullDevice
        new.standardError = FileHandle.nullDevice
        try new.run()
        while !FileManager.default.fileExists(atPath: socket) {
            guard new.isRunning else { return nil }
            await pause()
        }
        return new
    }

    func kill() {
        signal(SIGKILL)
        process.withLock { process in
            process?.waitUntilExit()
            process = nil
        }
    }

    func signal(_ number: Int32) {
        process.withLock { process in
            if let process, process.isRunning { _ = Foundation.kill(process.processIdentifier, number) }
        }
    }

    /// Stops the server while `body` runs: it accepts connections still, and answers nothing.
    func stopped(_ body: () async throws -> Void) async rethrows {
        signal(SIGSTOP)
        defer { signal(SIGCONT) }
        try await body()
    }

    struct ServerError: Error {}
}

extension RedisConnection {
    /// With timeouts that are long enough for a busy machine, and short pauses between attempts.
    convenience init(
        _ endpoint: RedisEndpoint,
        _ events: EventLog = EventLog(),
        change: (inout RedisSettings) -> Void = { _ in }
    ) throws {
        var settings = RedisSettings(endpoints: [endpoint])
        settings.timeouts.connect = .seconds(20)
        settings.timeouts.soft = .seconds(20)
        settings.timeouts.hard = .seconds(40)
        settings.backoff.first = .milliseconds(5)
        settings.backoff.longest = .milliseconds(50)
        change(&settings)
        try self.init(to: endpoint, settings: settings) { events.add($0) }
    }

    /// The error of a call; `nil` if it succeeds.
    func error(of command: RedisCommand) async -> RedisError? {
        do throws(RedisError) {
            _ = try await send([command])
            return nil
        } catch {
            return error
        }
    }

    /// Sends a command until it is answered.
    func insist(_ command: RedisCommand) async throws -> RedisValue {
        while true {
            do throws(RedisError) {
                return try await send([command])[0]
            } catch {
                guard [.notConnected, .connectionLost, .timeout].contains(error.code) else { throw error }
                await pause()
            }
        }
    }
}

/// What an observer was told.
final class EventLog: Sendable {
    private let events = Mutex<[RedisEvent]>([])

    func add(_ event: RedisEvent) { events.withLock { $0.append(event) } }

    var failures: [RedisError] {
        events.withLock { events in
            events.compactMap { if case .disconnected(let error) = $0 { error } else { nil } }
        }
    }
    var greetings: [RedisValue] {
        events.withLock { events in
            events.compactMap { if case .connected(let server) = $0 { server } else { nil } }
        }
    }
    var messages: [[RedisValue]] {
        events.withLock { events in
            events.compactMap { if case .push(let elements) = $0 { elements } else { nil } }
        }
    }

    /// Waits until there are so many of something.
    func wait<Element>(for count: Int, _ elements: (EventLog) -> [Element]) async -> [Element] {
        while elements(self).count < count { await pause() }
        return elements(self)
    }
}
