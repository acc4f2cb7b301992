import Foundation
import RedisServers
import Synchronization
import TestSupport
import Testing

@testable import RedisWire

#if os(Linux)
    /// Callers that read their answers themselves get the answers that the thread of all connections would have read,
    /// and leave everything else to it.
    @Suite(.timeLimit(.minutes(2 * slowness))) struct CallerReadingTests {
        // MARK: When

        @Test func callersReadAfterTwoQuickAnswersAndLessOftenAfterEachFailure() {
            var reading = CallerReading(patience: .milliseconds(1))
            func needed() -> Int {
                var count = 0
                while !reading.isOn {
                    reading.didWait(.microseconds(10))
                    count += 1
                }
                return count
            }
            #expect(!reading.isOn)
            #expect(needed() == 2)
            var counts: [Int] = []
            for _ in 0..<12 {
                reading.succeed()
                reading.fail()
                #expect(!reading.isOn)
                counts.append(needed())
            }
            #expect(counts == [4, 8, 16, 32, 64, 128, 256, 512, 1_024, 1_024, 1_024, 1_024])
            // One that comes late among many quick ones.
            for _ in 0..<32 { reading.succeed() }
            reading.fail()
            #expect(needed() == 2)
        }

        @Test func aSlowAnswerBeginsTheCountAnew() {
            var reading = CallerReading(patience: .milliseconds(1))
            for _ in 0..<10 {
                reading.didWait(.microseconds(10))
                reading.didWait(.milliseconds(2))
            }
            #expect(!reading.isOn)
            var never = CallerReading(patience: .zero)
            for _ in 0..<10 { never.didWait(.zero) }
            #expect(!never.isOn)
        }

        // MARK: Answers

        /// A server that gives each request the next of some answers; after the last it goes on with `+OK`.
        private struct Script: ~Copyable {
            private final class Answers: Sendable {
                private let rest: Mutex<[String]>

                init(_ answers: [String]) { rest = Mutex(answers) }

                func next() -> String { rest.withLock { $0.isEmpty ? ok : $0.removeFirst() } }
            }

            /// In place of an answer: the connection ends, without one or without a request.
            static let end = "end"
            static let endAtOnce = ""

            let port: UInt16
            private let listener: LoopbackSocket

            init(_ answers: [String]) throws {
                let answers = Answers(answers)
                let (listener, port) = try LoopbackSocket.listen()
                (self.listener, self.port) = (listener, port)
                Thread.detachNewThread {
                    while let client = listener.accept() {
                        _ = client.read()
                        _ = client.write(Array("%1\r\n$5\r\nproto\r\n:3\r\n".utf8))
                        while true {
                            let next = answers.next()
                            if next == Self.endAtOnce || client.read().isEmpty || next == Self.end { break }
                            _ = client.write(Array(next.utf8))
                        }
                        client.close()
                    }
                    listener.close()
                }
            }

            deinit { listener.shutDown() }
        }

        /// A connection with callers that read: two answers have come.
        private func connection(_ script: borrowing Script, _ events: EventLog) async throws -> RedisConnection {
            let connection = try RedisConnection(.tcp(host: "127.0.0.1", port: script.port), events) { settings in
                settings.timeouts.callerReading = .seconds(60)
                settings.timeouts.silence = .seconds(3_600)
            }
            for _ in 0..<2 { #expect(try await connection.insist(["PING"]).text == "OK") }
            try await connection.isReadByCallers()
            return connection
        }

        private static let ok = "+OK\r\n"
        private static let message = ">2\r\n$1\r\na\r\n$1\r\nb\r\n"

        /// Messages are told, by the thread of all connections, before the answer or after it.
        @Test(arguments: [message + "+third\r\n", "+third\r\n" + message])
        func messagesAmongAnswersAreTold(answer: String) async throws {
            let events = EventLog()
            let script = try Script([Self.ok, Self.ok, answer])
            let connection = try await connection(script, events)
            #expect(try await connection.send(["PING"]).text == "third")
            let messages = try await events.wait(for: 1) { $0.messages }
            #expect(messages.map { $0.map(\.text) } == [["a", "b"]])
            #expect(try connection.sendAndWait([["PING"]])[0].text == "OK")
            #expect(events.failures.isEmpty)
        }

        /// Answers that nothing asked for, and bytes that are none, end the connection; the next one serves.
        @Test(arguments: ["+third\r\n+more\r\n", "+third\r\n\u{1}\r\n"])
        func answersThatNothingAskedForEndTheConnection(answer: String) async throws {
            let events = EventLog()
            let script = try Script([Self.ok, Self.ok, answer])
            let connection = try await connection(script, events)
            #expect(try await connection.send(["PING"]).text == "third")
            let failures = try await events.wait(for: 1) { $0.failures }
            #expect(failures[0].code == .malformed)
            #expect(try await connection.insist(["PING"]).text == "OK")
        }

        /// Nor is one the answer to the next call, whether the caller, the thread or neither has read it by then.
        @Test(arguments: 0..<20) func noAnswerIsGivenToAnotherCall(round: Int) async throws {
            let numbers = (1...10).map { "+\($0)\r\n" }
            let script = try Script([Self.ok, Self.ok] + numbers.map { $0 == "+5\r\n" ? $0 + "+more\r\n" : $0 })
            let events = EventLog()
            let connection = try await connection(script, events)
            for number in 1...5 { #expect(try await answer().text == "\(number)") }
            if round % 3 == 2 { try await Task.sleep(for: .milliseconds(1)) }
            // The connection ends with this call, or before: then the next one serves, and the script goes on there.
            do throws(RedisError) {
                #expect(try await answer().text != "more")
            } catch {
                #expect(!error.mayHaveRun)
            }
            #expect(try await events.wait(for: 1) { $0.failures }[0].code == .malformed)
            func answer() async throws(RedisError) -> RedisValue {
                let commands: [RedisCommand] = [["PING"]]
                if round.isMultiple(of: 2) { return try await connection.send(commands)[0] }
                return try connection.sendAndWait(commands)[0]
            }
        }

        @Test func aConnectionThatEndsInPlaceOfAnAnswerIsLost() async throws {
            let events = EventLog()
            let script = try Script([Self.ok, Self.ok, Script.end])
            let connection = try await connection(script, events)
            let error = await connection.error(of: ["PING"])
            #expect(error?.code == .connectionLost && error?.mayHaveRun == true)
            #expect(try await connection.insist(["PING"]).text == "OK")
        }

        /// Nothing is under way, and the thread waits for no input: it is told of the end all the same.
        @Test func anEndWithoutACallIsTold() async throws {
            let events = EventLog()
            let script = try Script(Array(repeating: Self.ok, count: 10) + [Script.endAtOnce])
            let connection = try await connection(script, events)
            // The first of them wakes the thread, for its deadline.
            for _ in 0..<8 { #expect(try await connection.send(["PING"]).text == "OK") }
            #expect(try await events.wait(for: 1) { $0.failures }[0].code == .connectionLost)
            #expect(try await connection.insist(["PING"]).text == "OK")
        }

        /// An answer that takes longer than a caller reads.
        @Test func aLateAnswerIsReadByTheThread() async throws {
            let server = try await RedisServer()
            let connection = try RedisConnection(server.endpoint) { settings in
                settings.timeouts.callerReading = .milliseconds(4)
                settings.timeouts.silence = .seconds(3_600)
            }
            while !connection.inbox.isReadByCallers.load(ordering: .relaxed) {
                _ = try await connection.insist(["PING"])
            }
            // The first of them wakes the thread, for its deadline.
            for _ in 0..<8 { _ = try await connection.insist(["PING"]) }
            for number in 0..<3 {
                let late: RedisCommand = [
                    "EVAL", "local e = 0; for i = 1, 20000000 do e = e + 1 end; return ARGV[1]", "0",
                    .integer(number),
                ]
                #expect(try await connection.send([late])[0].integer == Int64(number))
                #expect(try connection.sendAndWait([late, ["ECHO", "x"]]).last?.text == "x")
            }
        }

        /// Messages are to be told as they come, with or without calls.
        @Test func aConnectionForMessagesIsReadByTheThread() async throws {
            let server = try await RedisServer()
            let events = EventLog()
            var settings = RedisSettings(endpoints: [server.endpoint])
            settings.timeouts = .patient
            settings.timeouts.callerReading = .seconds(60)
            let listeners = [
                try RedisConnection(to: server.endpoint, settings: settings, hearsMessages: true),
                try RedisConnection(server.endpoint, events) {
                    $0.timeouts.callerReading = .seconds(60)
                    $0.preparation = [["SUBSCRIBE", "news"]]
                },
            ]
            for _ in 0..<10 {
                for listener in listeners { _ = try await listener.insist(["PING"]) }
            }
            #expect(listeners.allSatisfy { !$0.inbox.isReadByCallers.load(ordering: .relaxed) })
            #expect(try await listeners[0].send(["PUBLISH", "news", "b"]).integer == 1)
            #expect(try await events.wait(for: 2) { $0.messages }[1].map(\.text) == ["message", "news", "b"])
        }

        // MARK: Many callers

        /// Tasks and threads call, are cancelled, and leave answers behind: each that waits gets its own.
        @Test(arguments: [Duration.zero, .microseconds(100), .seconds(1)])
        func eachCallerGetsItsOwnAnswer(patience: Duration) async throws {
            let server = try await RedisServer()
            let connection = try RedisConnection(server.endpoint) { $0.timeouts.callerReading = patience }
            _ = try await connection.insist(["PING"])
            for callers in [1, 2, 5] {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for caller in 0..<callers {
                        group.addTask { try await Self.call(connection, asCaller: caller) }
                    }
                    try await group.waitForAll()
                }
            }
        }

        private static func call(_ connection: RedisConnection, asCaller caller: Int) async throws {
            var generator = SeededGenerator(seed: caller)
            for number in 0..<400 {
                let text = "\(caller)-\(number)"
                let echo: RedisCommand = ["ECHO", .text(text)]
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: #expect(try connection.sendAndWait([echo, ["PING"]])[0].text == text)
                case 1: #expect(try await connection.begin([echo], until: nil).outcome().get()[0].text == text)
                case 2: _ = connection.begin([echo], until: nil)
                case 3:
                    let task = Task { try await connection.send([echo])[0].text }
                    task.cancel()
                    let answer = try? await task.value
                    #expect(answer == nil || answer == text)
                default: #expect(try await connection.send([echo])[0].text == text)
                }
            }
        }
    }

    extension RedisConnection {
        /// Waits until callers read their answers.
        fileprivate func isReadByCallers() async throws {
            try await wait(until: inbox.isReadByCallers.load(ordering: .relaxed))
        }
    }
#endif
