import Foundation
import RedisServers
import RedisWire
import TestSupport
import Testing

/// Encrypted connections to a real server.
@Suite(
    .enabled(if: RedisServer.canEncrypt, "needs --traits TLS, a redis-server with TLS, and openssl"),
    .timeLimit(.minutes(40 * slowness))
)
struct TLSTests {
    private let certificates: TestCertificates

    init() throws { certificates = try TestCertificates() }

    private func server(
        _ arguments: [String] = [],
        _ certificate: TestCertificates.Certificate? = nil,
        demandsCertificates: Bool = false
    ) async throws -> RedisServer {
        try await RedisServer(
            arguments,
            certificate: try certificate ?? certificates.make("server"),
            authority: certificates.authority,
            demandsCertificates: demandsCertificates
        )
    }

    /// A connection that trusts the tests' authority.
    private func connection(
        _ endpoint: RedisEndpoint,
        _ events: EventLog = EventLog(),
        change: (inout RedisSettings) -> Void = { _ in }
    ) throws -> RedisConnection {
        try RedisConnection(endpoint, events) { settings in
            settings.usesTLS = true
            settings.tls.authorities = certificates.authority.path
            change(&settings)
        }
    }

    private static func localhost(_ server: RedisServer) -> RedisEndpoint {
        .tcp(host: "localhost", port: server.port)
    }

    // MARK: Use

    @Test(arguments: ["TLSv1.2", "TLSv1.3"])
    func valuesGoThereAndBack(version: String) async throws {
        let server = try await server(["--tls-protocols", version])
        for endpoint in [server.endpoint, Self.localhost(server)] {
            let events = EventLog()
            // Callers read the later answers.
            let connection = try connection(endpoint, events) { $0.timeouts.callerReading = .seconds(60) }
            for length in [5, 100, 100_000, 3, 40_000] {
                let bytes: [UInt8] = [0, 13, 10, 255, 36] + [UInt8](repeating: 7, count: length)
                #expect(try await connection.send(["SET", "k", .bytes(bytes)]) == .simple("OK"))
                #expect(try await connection.send(["GET", "k"]).bytes == bytes)
                #expect(try connection.sendAndWait([["GET", "k"], ["PING"]])[1] == .simple("PONG"))
            }
            #expect(events.failures.isEmpty)
        }
    }

    /// A caller that has read a part of an answer leaves none of the stream's bytes to the thread, which waits for the socket.
    @Test(.timeLimit(.minutes(5 * slowness))) func answersOfSeveralRecordsAreReadWhole() async throws {
        let server = try await server()
        for patience in [10, 30, 60, 100, 150] {
            let connection = try connection(server.endpoint) { $0.timeouts.callerReading = .microseconds(patience) }
            let bytes = [UInt8](repeating: 7, count: 20_000)
            #expect(try await connection.insist(["SET", "k", .bytes(bytes)]) == .simple("OK"))
            for _ in 0..<200 {
                #expect(try await connection.send(["PING"]) == .simple("PONG"))
                #expect(try await connection.send(["GET", "k"]).bytes == bytes)
            }
        }
    }

    /// Values far larger than a record and than the sockets' buffers, among small ones.
    @Test func largeValues() async throws {
        let server = try await server()
        let connection = try connection(server.endpoint)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<16 {
                group.addTask {
                    var generator = SeededGenerator(seed: task)
                    let length = task.isMultiple(of: 4) ? 6_000_000 + task : 100 * task
                    let bytes = generator.bytes(length)
                    let name = RedisCommand.Argument.text("\(task)")
                    for _ in 0..<3 {
                        await #expect(throws: Never.self) {
                            let values = try await connection.send([["SET", name, .bytes(bytes)], ["GET", name]])
                            #expect(values[1].bytes == bytes)
                        }
                    }
                }
            }
        }
    }

    @Test func bytesMayComeOneByOne() async throws {
        let server = try await server()
        let proxy = try FaultProxy(to: server.port, .split)
        defer { proxy.end() }
        try await ConnectionFaultTests.check(try connection(proxy.endpoint), count: 5, mayFail: false)
    }

    @Test(arguments: [0, 3, 100, 900, 1_500, 3_000, 20_000])
    func connectionsAreCut(byteCount: Int) async throws {
        let server = try await server()
        let proxy = try FaultProxy(to: server.port, .cut(after: byteCount))
        defer { proxy.end() }
        let events = EventLog()
        try await ConnectionFaultTests.check(try connection(proxy.endpoint, events), count: 40, mayFail: true)
        #expect(events.failures.count == 1)
    }

    @Test func changedBytesEndTheConnection() async throws {
        let server = try await server()
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.end() }
        let events = EventLog()
        let connection = try connection(proxy.endpoint, events)
        _ = try await connection.insist(["PING"])
        // An encrypted record that was written without the key.
        proxy.fault = .replace([23, 3, 3, 0, 24] + Array(repeating: 7, count: 24))
        #expect(await connection.error(of: ["PING"])?.code == .connectionLost)
        #expect(try await events.wait(for: 1) { $0.failures }[0].code == .connectionLost)
        #expect(try await connection.insist(["ECHO", "again"]).text == "again")
    }

    /// The last record is the alert that no more comes: its length tells, as all else is encrypted.
    @Test func aClosedConnectionSaysSo() async throws {
        let server = try await server(["--tls-protocols", "TLSv1.3"])
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.end() }
        let connection = try connection(proxy.endpoint)
        #expect(try await connection.send(["PING"]) == .simple("PONG"))
        let alert: [UInt8] = [23, 3, 3, 0, 19]
        #expect(Array(proxy.lastReceived(24).prefix(5)) != alert)
        connection.close()
        try await wait(until: Array(proxy.lastReceived(24).prefix(5)) == alert)
    }

    // MARK: Trust

    /// The first error of connections that are made so.
    private func refusal(
        by server: RedisServer,
        at endpoint: RedisEndpoint? = nil,
        change: (inout RedisSettings) -> Void = { _ in }
    ) async throws -> String {
        let events = EventLog()
        let connection = try connection(endpoint ?? server.endpoint, events) { settings in
            settings.credentials = RedisCredentials(user: nil, password: "geheim")
            change(&settings)
        }
        let error = await connection.error(of: ["PING"])
        #expect([.insecure, .notConnected].contains(error?.code) && error?.mayHaveRun == false)
        let failure = try #require(try await events.wait(for: 1) { $0.failures }.first)
        #expect(failure.code == .insecure, "\(failure)")
        #expect(!failure.message.contains("geheim"))
        return failure.message
    }

    @Test func onlyCertificatesOfTheNameAreTaken() async throws {
        let named = try await server([], try certificates.make("named", names: "DNS:localhost"))
        #expect(try await refusal(by: named).contains("IP address mismatch"))
        let numbered = try await server([], try certificates.make("numbered", names: "IP:127.0.0.1"))
        #expect(try await refusal(by: numbered, at: Self.localhost(numbered)).contains("ostname mismatch"))
        let other = try await server([], try certificates.make("other", names: "DNS:cache.example,DNS:l*t"))
        for endpoint in [other.endpoint, Self.localhost(other)] {
            #expect(try await refusal(by: other, at: endpoint).contains("mismatch"))
            let connection = try connection(endpoint) { $0.tls.serverName = "cache.example" }
            #expect(try await connection.send(["PING"]) == .simple("PONG"))
        }
        for name in ["", "localhost\0.example", String(repeating: "a", count: 300)] {
            _ = try await refusal(by: named, at: Self.localhost(named)) { $0.tls.serverName = name }
        }
    }

    @Test func onlyValidCertificatesAreTaken() async throws {
        let expired = try await server([], try certificates.make("expired", days: -1))
        #expect(try await refusal(by: expired).contains("expired"))
        let unknown = try await server()
        let others = try TestCertificates()
        defer { withExtendedLifetime(others) {} }
        // The system trusts other authorities.
        for authority in [others.authority.path, nil] {
            let message = try await refusal(by: unknown) { $0.tls.authorities = authority }
            #expect(message.contains("certificate is not accepted"))
        }
        // Its own authority, and no other one's.
        let own = try await server([], certificates.authority)
        #expect(try await refusal(by: own).contains("mismatch"))
    }

    /// Taken only if the settings say that nothing is to be looked at.
    @Test func withoutVerificationAllAreTaken() async throws {
        for certificate in [
            try certificates.make("other", names: "DNS:cache.example"), try certificates.make("expired", days: -1),
        ] {
            let server = try await server([], certificate)
            let connection = try RedisConnection(server.endpoint) { settings in
                settings.usesTLS = true
                settings.tls.isUnverified = true
            }
            #expect(try await connection.send(["PING"]) == .simple("PONG"))
        }
    }

    @Test func serversMayDemandCertificates() async throws {
        let server = try await server(demandsCertificates: true)
        #expect(try await refusal(by: server).contains("certificate required"))
        let own = try certificates.make("client", names: "DNS:client")
        let connection = try connection(server.endpoint) { settings in
            settings.tls.certificate = own.path
            settings.tls.key = own.key
        }
        #expect(try await connection.send(["PING"]) == .simple("PONG"))
        let authority = try TestCertificates()
        defer { withExtendedLifetime(authority) {} }
        let others = try authority.make("client")
        let message = try await refusal(by: server) { settings in
            settings.tls.certificate = others.path
            settings.tls.key = others.key
        }
        #expect(message.contains("unknown ca"))
    }

    /// Found when the connection is made, with the file's path, and without a question at the terminal.
    @Test func filesThatCannotBeUsed() throws {
        let first = try certificates.make("first")
        let second = try certificates.make("second")
        let missing = certificates.path("missing.pem")
        let noCertificate = certificates.path("empty.pem")
        try Data("nothing\n".utf8).write(to: URL(filePath: noCertificate))
        let locked = try certificates.locked(first)
        let changes: [(path: String, (inout RedisTLSSettings) -> Void)] = [
            (missing, { $0.authorities = missing }),
            (noCertificate, { $0.authorities = noCertificate }),
            (missing, { $0.certificate = missing }),
            (missing, { ($0.certificate, $0.key) = (first.path, missing) }),
            (second.key, { ($0.certificate, $0.key) = (first.path, second.key) }),
            (locked.key, { ($0.certificate, $0.key) = (first.path, locked.key) }),
            (first.path, { $0.certificate = first.path }),
        ]
        for (path, change) in changes {
            let error = #expect(throws: RedisError.self) {
                try connection(.tcp(host: "127.0.0.1", port: 1)) { change(&$0.tls) }
            }
            #expect(error?.code == .insecure)
            #expect(error?.message.contains(path) == true, "\(String(describing: error))")
        }
    }

    // MARK: Servers that are none

    @Test func aServerWithoutTLSGetsNoPassword() async throws {
        let server = try await RedisServer()
        let events = EventLog()
        // It waits for the end of a line in the handshake.
        let connection = try connection(server.endpoint, events) { $0.timeouts.connect = .milliseconds(300) }
        #expect(await connection.error(of: ["PING"])?.mayHaveRun == false)
        let failure = try await events.wait(for: 1) { $0.failures }[0]
        #expect(failure.code == .notConnected && failure.message.contains("TLS"))
        let encrypted = try await self.server()
        let others = EventLog()
        let plain = try RedisConnection(encrypted.endpoint, others)
        #expect(await plain.error(of: ["PING"]) != nil)
        #expect(try await others.wait(for: 1) { $0.failures }[0].code == .connectionLost)
    }

    @Test func aHandshakeTakesNoLongerThanConnecting() async throws {
        let server = try await server()
        for fault in [FaultProxy.Fault.stall, .cut(after: 50)] {
            let proxy = try FaultProxy(to: server.port, fault)
            defer { proxy.end() }
            let events = EventLog()
            let connection = try connection(proxy.endpoint, events) { $0.timeouts.connect = .milliseconds(300) }
            _ = try await events.wait(for: 1) { $0.failures }
            proxy.fault = .none
            _ = try await connection.insist(["PING"])
        }
    }

    private static let wrongHandshakes: [String: [UInt8]] = [
        "nothing": [],
        "one byte": [0],
        "text": Array("-ERR unknown command\r\n".utf8),
        "one byte again and again": Array(repeating: 22, count: 5_000),
        "a refusal": [21, 3, 3, 0, 2, 2, 40],
        "a record that is too long": [22, 3, 3, 0xFF, 0xFF],
        "a message of 16 MiB": [22, 3, 3, 0x40, 0, 2, 0xFF, 0xFF, 0xFF] + Array(repeating: 0, count: 16_380),
        "warnings": Array(repeatElement([21, 3, 3, 0, 2, 1, 90] as [UInt8], count: 100).joined()),
    ]

    @Test(arguments: wrongHandshakes.keys.sorted())
    func handshakesThatAreNone(name: String) async throws {
        let bytes = try #require(Self.wrongHandshakes[name])
        let (listener, port) = try LoopbackSocket.listen()
        Thread {
            while let client = listener.accept() {
                Thread {
                    if client.read().isEmpty { return }
                    _ = client.write(bytes)
                    if bytes.isEmpty { client.shutDown() }
                    while !client.read().isEmpty {}
                    client.close()
                }.start()
            }
        }.start()
        defer { listener.shutDown() }
        let events = EventLog()
        let connection = try connection(.tcp(host: "127.0.0.1", port: port), events) {
            $0.timeouts.connect = .milliseconds(500)
        }
        _ = try await events.wait(for: 2) { $0.failures }
        #expect(await connection.error(of: ["PING"])?.mayHaveRun == false)
        #expect(events.failures.allSatisfy { [.insecure, .notConnected].contains($0.code) })
    }
}
