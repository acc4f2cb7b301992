import Foundation
import RedisServers
import TestSupport
import Testing
import TypedCache

@testable import ArchiveStore
@testable import SharedCache

/// Machines in processes of their own, which are stopped and killed.
@Suite(.enabled(if: RedisServer.isInstalled, "redis-server is not installed"), .timeLimit(.minutes(40 * slowness)))
struct FleetProcessTests {
    /// Behaviour 8. The thread that wakes first finds that the last heartbeat is too long ago.
    @Test func aProcessThatWasStoppedServesNothingOld() async throws {
        let fleet = try await Fleet()
        let here = try await fleet.verifiedMachine().cache()
        let worker = try SharedProcess(fleet, interval: 50, deadline: 450)
        defer { worker.end() }
        for round in 0..<rounds(20, short: 3) {
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
            try await wait(until: ContinuousClock.now >= stopped + .milliseconds(600))
            worker.signal(SIGCONT)
            #expect(worker.answer() == "new")
        }
    }

    /// It has no thread for connections, so its calls would wait for ever.
    @Test func aForkedProcessOpensNoTier() async throws {
        let fleet = try await Fleet()
        for url in ["redis://127.0.0.1:\(fleet.server.port)", "redis+cluster://127.0.0.1:\(fleet.server.port)"] {
            let worker = try SharedProcess(url, interval: 50, deadline: 450)
            defer { worker.end() }
            #expect(worker.ask("fork") == "forked")
        }
    }

    /// Behaviours 1 and 4: processes fetch the entries that another one has saved or loaded.
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

    /// Behaviour 15: both have the value that the server has, whichever came last.
    @Test func processesThatSaveOneKeyAtOnceAgree() async throws {
        let fleet = try await Fleet()
        let server = try await fleet.verifiedMachine().cache()
        let workers = try (0..<2).map { _ in try SharedProcess(fleet, interval: 50, deadline: 450) }
        defer { for worker in workers { worker.end() } }
        var last: [Int: Int] = [:]
        for round in 0..<rounds(10_000, short: 200) {
            for (number, worker) in workers.enumerated() { worker.send("save key \(round):\(number)") }
            for worker in workers { #expect(worker.answer() == "saved") }
            let value = try #require(try await server.fetch(forKey: "key", freshness: .latest))
            #expect(value.hasPrefix("\(round):"))
            for worker in workers { try await worker.wait(for: value, to: "fetch key") }
            last[Int(value.suffix(1)) ?? 2, default: 0] += 1
        }
        // Either of them was the later one at times, or nothing was tried.
        #expect(last.keys.sorted() == [0, 1], "\(last)")
    }
}
