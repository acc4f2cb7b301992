import Foundation
import RedisServers
import TestSupport
import Testing
import TypedCache

@testable import ArchiveStore
@testable import SharedCache

/// Machines in processes of their own, which are stopped and killed.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40)))
struct FleetProcessTests {
    /// Behaviour 8. The thread that wakes first finds that the last heartbeat is too long ago.
    @Test func aProcessThatWasStoppedServesNothingOld() async throws {
        let fleet = try await Fleet()
        let here = try await fleet.verifiedMachine().cache()
        let worker = try SharedProcess(fleet, interval: 50, deadline: 450)
        defer { worker.end() }
        for round in 0..<(isLongRun ? 20 : 3) {
            let key = "key\(round)"
            try await here.save("old", forKey: key)
            // Until memory has it, and may answer.
            var hits = 0
            repeat {
                hits = try #require(Int(worker.ask("hits")))
                #expect(worker.ask("fetch \(key)") == "old")
            } while try #require(Int(worker.ask("hits"))) == hits
            worker.stop()
            worker.send("fetch \(key)")
            try await here.save("new", forKey: key)
            let stopped = ContinuousClock.now
            while ContinuousClock.now < stopped + .milliseconds(600) { await pause() }
            worker.signal(SIGCONT)
            #expect(worker.answer() == "new")
        }
    }

    /// Behaviours 1 and 4: what one process has saved or loaded, the others fetch.
    @Test func oneOfManyProcessesRunsTheProducer() async throws {
        let fleet = try await Fleet()
        let workers = try (0..<4).map { _ in try SharedProcess(fleet, interval: 50, deadline: 20_000) }
        defer { for worker in workers { worker.end() } }
        for worker in workers { #expect(worker.ask("fetch none") == "-") }
        for round in 0..<5 {
            for (number, worker) in workers.enumerated() { worker.send("load key\(round) \(number)") }
            let answers = workers.map { $0.answer() }
            let loaded = answers.filter { $0.hasSuffix(" loaded") }
            #expect(loaded.count == 1, "\(answers)")
            let value = String(loaded.first?.prefix(1) ?? "?")
            #expect(answers.allSatisfy { $0.prefix(1) == value }, "\(answers)")
            for worker in workers { #expect(worker.ask("fetch key\(round)") == value) }
        }
    }
}

/// A `SharedWorker`.
private final class SharedProcess {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()

    init(_ fleet: Fleet, interval: Int, deadline: Int) throws {
        process = Process()
        process.executableURL = Self.executable
        let url = "redis://127.0.0.1:\(fleet.server.port)/?prefix=\(fleet.prefix)"
        process.arguments = [url, "\(interval)", "\(deadline)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Beside the tests.
    private static var executable: URL {
        #if canImport(Darwin)
            Bundle(for: SharedProcess.self).bundleURL.deletingLastPathComponent().appending(path: "SharedWorker")
        #else
            Bundle.main.bundleURL.appending(path: "SharedWorker")
        #endif
    }

    func send(_ line: String) { input.fileHandleForWriting.write(Data("\(line)\n".utf8)) }

    /// The next line, which this waits for.
    func answer() -> String {
        var bytes: [UInt8] = []
        while let byte = output.fileHandleForReading.readData(ofLength: 1).first, byte != UInt8(ascii: "\n") {
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func ask(_ line: String) -> String {
        send(line)
        return answer()
    }

    func signal(_ number: Int32) { _ = kill(process.processIdentifier, number) }

    /// Stops the process, and waits until all of its threads stand still.
    func stop() {
        signal(SIGSTOP)
        var information = siginfo_t()
        while waitid(P_PID, id_t(process.processIdentifier), &information, WSTOPPED) != 0, errno == EINTR {}
    }

    func end() {
        signal(SIGKILL)
        process.waitUntilExit()
    }
}
