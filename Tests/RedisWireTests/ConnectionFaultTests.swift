import Foundation
import RedisServers
import TestSupport
import Testing

@testable import RedisWire

/// Servers that stop, die and come back, and networks that spoil their bytes: no caller gets a wrong answer, and none
/// waits for ever.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct ConnectionFaultTests {
    /// The connection stays, and later answers are dropped.
    @Test func aSlowServerCostsTheSoftTimeout() async throws {
        let server = try await RedisServer()
        let events = EventLog()
        let connection = try RedisConnection(server.endpoint, events)
        let hasty = try RedisConnection(server.endpoint, events) { $0.timeouts.soft = .milliseconds(50) }
        _ = try await connection.send(["PING"])
        _ = try await hasty.insist(["PING"])
        try await server.stopped {
            for number in 0..<3 {
                var mayHaveRun = false
                // On a busy machine the time may be over before the command is written.
                while !mayHaveRun {
                    let error = await hasty.error(of: ["ECHO", .integer(number)])
                    #expect(error?.code == .timeout)
                    mayHaveRun = error?.mayHaveRun ?? true
                }
            }
            let waiting = Task { await connection.error(of: ["ECHO", "cancelled"]) }
            try await Task.sleep(for: .milliseconds(1))
            waiting.cancel()
            #expect(await waiting.value?.code == .cancelled)
        }
        #expect(try await connection.send(["ECHO", "a"]).text == "a")
        #expect(try await hasty.insist(["ECHO", "b"]).text == "b")
        #expect(events.failures.isEmpty)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await connection.error(of: ["PING"])
        }
        #expect(await cancelled.value?.code == .cancelled)
    }

    /// On a busy machine the thread of all connections may stand still for longer than a caller waits.
    @Test func anAnswerThatHasComeIsTakenHoweverLateTheThreadIs() async throws {
        let server = try await RedisServer()
        let connection = try RedisConnection(server.endpoint) { $0.timeouts.soft = .milliseconds(30) }
        let other = try RedisConnection(server.endpoint)
        for each in [connection, other] { _ = try await each.insist(["PING"]) }
        var answered = 0
        for _ in 0..<5 {
            let isHeld = DispatchSemaphore(value: 0)
            RedisThread.shared.perform(for: other.inbox.number) { _ in
                isHeld.signal()
                usleep(60_000)
            }
            func waitUntilHeld() { isHeld.wait() }
            waitUntilHeld()
            if await connection.error(of: ["PING"]) == nil { answered += 1 }
        }
        // On a busy machine a caller leaves its call to the thread sometimes.
        #expect(answered >= 3)
    }

    /// Otherwise the system goes on sending them, and an abandoned command comes after later ones.
    @Test func bytesOfAConnectionThatWasGivenUpAreThrownAway() async throws {
        let (listener, port) = try LoopbackSocket.listen()
        defer { listener.close() }
        let connection = try RedisConnection(.tcp(host: "127.0.0.1", port: port)) {
            $0.timeouts.hard = .milliseconds(500)
        }
        defer { connection.close() }
        let isReset = Task.detached { () -> Bool in
            guard let client = listener.accept() else { return false }
            defer { client.close() }
            _ = client.read()
            _ = client.write(Array("%1\r\n$5\r\nproto\r\n:3\r\n".utf8))
            // The next connection: this one was closed.
            listener.accept()?.close()
            return client.isResetAtEnd()
        }
        // More than the system takes for a socket that is not read.
        let error = await connection.error(of: ["SET", "key", .bytes([UInt8](repeating: 0, count: 32 << 20))])
        #expect(error?.code == .connectionLost)
        #expect(await isReset.value)
    }

    /// The pauses between connections grow until the server has answered a call.
    @Test func aServerThatGreetsAndHangsUpIsNotAskedAllTheTime() async throws {
        let (listener, port) = try LoopbackSocket.listen()
        defer { listener.close() }
        let events = EventLog()
        let connection = try RedisConnection(.tcp(host: "127.0.0.1", port: port), events) { settings in
            settings.backoff.first = .milliseconds(1)
            settings.backoff.longest = .seconds(3_600)
        }
        defer { connection.close() }
        let server = Task.detached {
            while let client = listener.accept() {
                _ = client.read()
                _ = client.write(Array("%1\r\n$5\r\nproto\r\n:3\r\n".utf8))
                client.close()
            }
        }
        _ = try await events.wait(for: 5) { $0.greetings }
        var count = 0
        // Until none comes for some time: after 15 of them the pause is half a minute.
        while count < events.greetings.count, count < 40 {
            count = events.greetings.count
            try await Task.sleep(for: .milliseconds(1_000))
        }
        #expect(count < 40)
        listener.shutDown()
        await server.value
    }

    @Test func aServerThatOwesTooLongIsLeft() async throws {
        let server = try await RedisServer()
        let events = EventLog()
        let connection = try RedisConnection(server.endpoint, events) { settings in
            settings.timeouts.hard = .milliseconds(200)
            settings.timeouts.connect = .milliseconds(500)
        }
        _ = try await connection.insist(["PING"])
        try await server.stopped {
            let error = await connection.error(of: ["PING"])
            #expect(error?.code == .connectionLost && error?.mayHaveRun == true)
            // A stopped server accepts connections, and does not greet.
            _ = try await events.wait(for: 3) { $0.failures }
        }
        #expect(try await connection.insist(["ECHO", "again"]).text == "again")
    }

    /// A connection without calls asks for a sign of life.
    @Test func silenceIsNoticed() async throws {
        let server = try await RedisServer()
        let events = EventLog()
        let connection = try RedisConnection(server.endpoint, events) { settings in
            settings.timeouts.hard = .milliseconds(200)
            settings.timeouts.silence = .milliseconds(20)
        }
        _ = try await connection.insist(["PING"])
        let count = events.failures.count
        try await server.stopped { _ = try await events.wait(for: count + 1) { $0.failures } }
        _ = try await connection.insist(["PING"])
    }

    @Test func aKilledServerComesBack() async throws {
        let server = try await RedisServer()
        let events = EventLog()
        let connection = try RedisConnection(server.endpoint, events)
        for round in 1...3 {
            _ = try await connection.insist(["SET", "k", .integer(round)])
            server.signal(SIGSTOP)
            async let lost = connection.error(of: ["GET", "k"])
            try await Task.sleep(for: .milliseconds(1))
            server.kill()
            // A busy machine may begin the call only once the server is dead.
            let code = await lost?.code
            #expect(code == .connectionLost || code == .notConnected)
            _ = try await events.wait(for: round + 1) { $0.failures }
            #expect(await connection.error(of: ["PING"]) != nil)
            try await server.start()
            // It keeps nothing.
            #expect(try await connection.insist(["GET", "k"]) == .null)
            #expect(events.greetings.count == round + 1)
        }
    }

    @Test func bytesMayComeOneByOne() async throws {
        let server = try await RedisServer()
        let proxy = try FaultProxy(to: server.port, .split)
        defer { proxy.end() }
        let connection = try RedisConnection(proxy.endpoint)
        try await Self.check(connection, count: 20, mayFail: false)
    }

    @Test(arguments: [0, 1, 7, 40, 200, 300, 1_000, 5_000])
    func connectionsAreCut(byteCount: Int) async throws {
        let server = try await RedisServer()
        let proxy = try FaultProxy(to: server.port, .cut(after: byteCount))
        defer { proxy.end() }
        let events = EventLog()
        let connection = try RedisConnection(proxy.endpoint, events)
        try await Self.check(connection, count: 40, mayFail: true)
        #expect(events.failures.count == 1)
    }

    /// 64 tasks that count and read their own counters: none is counted too often, and none has another's number.
    static func check(_ connection: RedisConnection, count: Int, mayFail: Bool) async throws {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    var least: Int64 = 0
                    var most: Int64 = 0
                    for step in 0..<count {
                        most += 1
                        do throws(RedisError) {
                            let text = "task \(task), step \(step)"
                            let values = try await connection.send([
                                ["INCR", .text("task \(task)")], ["ECHO", .text(text)],
                            ])
                            #expect(values.count == 2 && values[1].text == text)
                            let number = values[0].integer ?? 0
                            #expect((least + 1...most).contains(number))
                            least = number
                        } catch {
                            #expect(mayFail && [.connectionLost, .notConnected].contains(error.code))
                            if !error.mayHaveRun { most -= 1 }
                            try? await Task.sleep(for: .milliseconds(1))
                        }
                    }
                    await #expect(throws: Never.self) {
                        let number = try await connection.insist(["GET", .text("task \(task)")]).integer ?? 0
                        #expect((least...most).contains(number))
                    }
                }
            }
        }
    }

    /// Of a name with several addresses, say: the first one's packets get lost.
    @Test func anAddressThatAnswersNothingKeepsNoOtherFromItsTurn() async throws {
        let server = try await RedisServer()
        let (silent, port) = try LoopbackSocket.listen(backlog: 0)
        defer { silent.close() }
        // It takes the place of the one connection that may wait.
        let waiting = try LoopbackSocket(connectingTo: port)
        defer { waiting.close() }
        var settings = RedisSettings(endpoints: [server.endpoint])
        settings.timeouts = .patient
        settings.timeouts.connect = .seconds(4)
        let connection = try RedisConnection(
            to: server.endpoint,
            addresses: { endpoint throws(SocketError) in
                try Socket.addresses(of: .tcp(host: "127.0.0.1", port: port)) + Socket.addresses(of: endpoint)
            },
            settings: settings
        )
        #expect(try await connection.insist(["PING"]).text == "PONG")
    }

    /// A server repeats the arguments of a command that it does not know.
    @Test func aPasswordIsInNoMessage() async throws {
        let server = try await RedisServer(["--requirepass", "geheim", "--rename-command", "HELLO", ""])
        let events = EventLog()
        let connection = try RedisConnection(server.endpoint, events) {
            $0.credentials = RedisCredentials(user: nil, password: "geheim")
        }
        let failures = try await events.wait(for: 1) { $0.failures }
        #expect(failures[0].code == .refused && failures[0].message.contains("knows no HELLO"))
        #expect(!failures[0].message.contains("geheim"))
        connection.close()
        let refusal = "ERR unknown command 'SET', with args beginning with: 'name' 'secret' "
        #expect(RedisReplyError(message: refusal).textWithoutArguments == "ERR unknown command 'SET'")
    }

    @Test(arguments: ["-ERR unknown command 'HELLO'\r\n", "+OK\r\n", "*2\r\n+server\r\n+old\r\n", "$-1\r\n"])
    func serversWithoutTheProtocolAreRefused(reply: String) async throws {
        let server = try await RedisServer()
        let proxy = try FaultProxy(to: server.port, .replace(Array(reply.utf8)))
        defer { proxy.end() }
        let events = EventLog()
        let connection = try RedisConnection(proxy.endpoint, events)
        let failures = try await events.wait(for: 1) { $0.failures }
        #expect(failures[0].code == .refused)
        _ = try await connection.insist(["PING"])
    }

    @Test(arguments: ["?", "$1000000000000\r\n", "*3\r\n:1\r\nxx", ":1\r\n:2\r\n:3\r\n", "\0\0\0\0\0\0\0\0\r\n"])
    func whatIsNoAnswerEndsTheConnection(reply: String) async throws {
        let server = try await RedisServer()
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.end() }
        let events = EventLog()
        let connection = try RedisConnection(proxy.endpoint, events) { $0.timeouts.hard = .milliseconds(500) }
        _ = try await connection.insist(["PING"])
        proxy.fault = .replace(Array(reply.utf8))
        async let answer = connection.error(of: ["ECHO", "x"])
        let failures = try await events.wait(for: 1) { $0.failures }
        #expect(failures[0].code == .malformed || reply.hasPrefix("?"), "\(failures[0])")
        _ = await answer
        #expect(try await connection.insist(["ECHO", "y"]).text == "y")
    }

    @Test func aStalledNetworkIsLeft() async throws {
        let server = try await RedisServer()
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.end() }
        let events = EventLog()
        let connection = try RedisConnection(proxy.endpoint, events) { settings in
            settings.timeouts.hard = .milliseconds(300)
            settings.timeouts.connect = .milliseconds(300)
        }
        _ = try await connection.insist(["PING"])
        let count = events.failures.count
        proxy.fault = .stall
        #expect(await connection.error(of: ["PING"])?.code == .connectionLost)
        _ = try await events.wait(for: count + 2) { $0.failures }
        proxy.fault = .none
        _ = try await connection.insist(["PING"])
    }
}
