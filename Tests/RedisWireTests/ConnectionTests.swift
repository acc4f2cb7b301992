import Foundation
import RedisServers
import RedisWire
import Synchronization
import TestSupport
import Testing

/// Connections to a real server.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct ConnectionTests {
    @Test func valuesGoThereAndBack() async throws {
        let server = try await RedisServer()
        for endpoint in [server.endpoint, server.socket] {
            let events = EventLog()
            let connection = try RedisConnection(endpoint, events) { settings in
                settings.clientName = "tests"
                settings.database = 3
            }
            let bytes: [UInt8] = [0, 13, 10, 255, 36]
            #expect(try await connection.send(["SET", "k", .bytes(bytes)]) == .simple("OK"))
            #expect(try await connection.send(["GET", "k"]).bytes == bytes)
            #expect(try await connection.send(["GET", "none"]) == .null)
            #expect(try await connection.send(["CLIENT", "GETNAME"]).text == "tests")
            #expect(try await connection.send(["CLIENT", "INFO"]).text?.contains(" db=3 ") == true)
            await #expect(throws: RedisReplyError.self) { try await connection.send(["INCR", "k"]) }
            // Refusals among others are values.
            let values = try await connection.send([["PING"], ["INCR", "k"], ["PING"]])
            #expect(values.count == 3 && values[0] == values[2])
            #expect(events.greetings.first?.field("proto")?.integer == 3 && events.failures.isEmpty)
        }
    }

    @Test func manyTasksShareOneConnection() async throws {
        let server = try await RedisServer()
        for callerReading in [Duration.zero, .microseconds(100), .seconds(60)] {
            let connection = try RedisConnection(server.endpoint) { $0.timeouts.callerReading = callerReading }
            var areTogether = false
            // Where other tests hold Swift's threads, few of the tasks run at a time.
            for _ in 0..<20 where !areTogether {
                let before = try await Self.counts(connection)
                await callFromManyTasks(connection)
                let after = try await Self.counts(connection)
                #expect(after.commands - before.commands > 256 * 20 * 3)
                areTogether = (after.reads - before.reads) * 4 < 256 * 20
                if !areTogether { try await Task.sleep(for: .milliseconds(1)) }
            }
            // Calls that come together go out together.
            #expect(areTogether, "callers read for \(callerReading)")
        }
    }

    private func callFromManyTasks(_ connection: RedisConnection) async {
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<256 {
                group.addTask {
                    for step in 0..<20 {
                        let text = "\(task), \(step)"
                        await #expect(throws: Never.self) {
                            let values = try await connection.send([
                                ["ECHO", .text(text)], ["INCR", "n"], ["INCR", "n"],
                            ])
                            #expect(values[0].text == text)
                            // No other task's command is between.
                            #expect(values[2].integer == values[1].integer.map { $0 + 1 })
                        }
                    }
                }
            }
        }
    }

    private static func counts(_ connection: RedisConnection) async throws -> (reads: Int, commands: Int) {
        let text = try await connection.send(["INFO", "stats"]).text ?? ""
        func number(_ name: String) throws -> Int {
            let line = try #require(text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name + ":") })
            return try #require(Int(line.dropFirst(name.count + 1)))
        }
        return (try number("total_reads_processed"), try number("total_commands_processed"))
    }

    @Test func fewCommandsMayBeUnderWay() async throws {
        let server = try await RedisServer()
        let connection = try RedisConnection(server.endpoint) { settings in
            settings.limits.commands = 3
            settings.limits.unwrittenBytes = 10
        }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<100 {
                group.addTask {
                    await #expect(throws: Never.self) {
                        // More commands than may be under way go alone.
                        let text = RedisCommand.Argument.text("\(task)")
                        let values = try await connection.send(Array(repeating: ["ECHO", text], count: 5))
                        #expect(values.allSatisfy { $0.text == "\(task)" } && values.count == 5)
                    }
                }
            }
        }
    }

    @Test func users() async throws {
        let server = try await RedisServer([
            "--requirepass", "geheim", "--user", "app", "on", ">pass", "~*", "+@all",
        ])
        for (user, password) in [(nil, "geheim"), ("app", "pass")] as [(String?, String)] {
            let connection = try RedisConnection(server.endpoint) { settings in
                settings.credentials = RedisCredentials(user: user, password: password)
            }
            #expect(try await connection.send(["PING"]) == .simple("PONG"))
        }
        for credentials in [nil, RedisCredentials(user: nil, password: "falsch")] {
            let events = EventLog()
            let connection = try RedisConnection(server.endpoint, events) { $0.credentials = credentials }
            let error = await connection.error(of: ["PING"])
            #expect([.refused, .notConnected].contains(error?.code) && error?.mayHaveRun == false)
            let failures = try await events.wait(for: 1) { $0.failures }
            #expect(failures[0].code == .refused && !failures[0].message.contains("falsch"))
        }
    }

    @Test func messages() async throws {
        let server = try await RedisServer()
        let events = EventLog()
        let listener = try RedisConnection(server.endpoint, events) { settings in
            settings.preparation = [["SUBSCRIBE", "news"], ["CLIENT", "TRACKING", "ON", "BCAST"]]
        }
        #expect(try await listener.send(["PING"]) == .simple("PONG"))
        let writer = try RedisConnection(server.endpoint)
        for number in 0..<50 {
            #expect(try await writer.send(["PUBLISH", "news", .integer(number)]).integer == 1)
            // The connection has answers of its own in the meantime.
            #expect(try await listener.send(["ECHO", .integer(number)]).integer == Int64(number))
        }
        #expect(try await writer.send(["SET", "k", "v"]) == .simple("OK"))
        let messages = try await events.wait(for: 52) { $0.messages }
        #expect(messages[0].map(\.text) == ["subscribe", "news", nil])
        let numbers = messages.filter { $0[0].text == "message" }.map { $0[2].integer }
        #expect(numbers == (0..<50).map(Int64.init))
        #expect(messages.last == [.bulk(Array("invalidate".utf8)), .array([.bulk(Array("k".utf8))])])
    }

    @Test func aClosedConnectionTellsAll() async throws {
        let server = try await RedisServer()
        let connection = try RedisConnection(server.endpoint)
        #expect(try await connection.send(["PING"]) == .simple("PONG"))
        try await server.stopped {
            async let waiting = connection.error(of: ["PING"])
            try await Task.sleep(for: .milliseconds(1))
            connection.close()
            connection.close()
            #expect(await waiting?.code == .closed)
        }
        #expect(await connection.error(of: ["PING"])?.code == .closed)
    }

    /// A password never goes over a connection that lacks the TLS it should have.
    @Test(.enabled(if: !RedisTLSSettings.isSupported, "this build has TLS"))
    func encryptionIsNotLeftOut() async throws {
        let server = try await RedisServer()
        let error = #expect(throws: RedisError.self) { try RedisConnection(server.endpoint) { $0.usesTLS = true } }
        #expect(error?.code == .unsupported && error?.message.contains("trait TLS") == true)
    }

    @Test func nobodyListens() async throws {
        let events = EventLog()
        let connection = try RedisConnection(.tcp(host: "127.0.0.1", port: 1), events) {
            $0.backoff.first = .seconds(30)
            $0.backoff.longest = .seconds(30)
        }
        _ = try await events.wait(for: 1) { $0.failures }
        let error = await connection.error(of: ["PING"])
        #expect(error?.code == .notConnected && error?.mayHaveRun == false)
        let nowhere = try RedisConnection(.tcp(host: "no-such-host.invalid", port: 6379)) {
            $0.backoff.first = .seconds(30)
        }
        #expect(await nowhere.error(of: ["PING"])?.code == .notConnected)
        let path = try RedisConnection(.unix(path: "/nowhere/redis.sock"))
        #expect(await path.error(of: ["PING"])?.code == .notConnected)
    }
}
