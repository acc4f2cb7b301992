import Foundation
import SharedCache
import TypedCache

/// Four processes that share a cache on a server, and the one that directs them.
struct Fleet {
    private var workers: [WorkerProcess]
    private let arguments: [String]
    private let tier: SharedTier
    private let cities: Cache<City>
    private let tokyo: Int = 1_850_147

    init(server: String, file: String) throws {
        tier = try SharedTier(server)
        cities = try Cache<City>(name: "cities", shared: tier)
        let arguments = [server, file, "worker"]
        self.arguments = arguments
        workers = try (0..<4).map { _ in try WorkerProcess(arguments) }
    }

    mutating func run() async throws {
        print("Four processes read every city:")
        try readAll()

        print("One process changes Tokyo; the others, which have it in memory, see that this long after:")
        try await changeTokyo()

        print("All need a city that no one has yet, and the process that makes it is killed:")
        try await killProducer()

        print("Press return once the servers are full.")
        fflush(nil)
        guard readLine() != nil else { return }
        await useFullServers()

        print("Press return, and they read every city again.")
        fflush(nil)
        guard readLine() != nil else { return }
        try readAll()
        print("And Tokyo is changed once more; the others see that after:")
        try await changeTokyo()
        await tier.close()
    }

    private func readAll() throws {
        for worker in workers { try worker.ask("read") }
        for (number, worker) in workers.enumerated() { print("  process \(number + 1): \(try worker.answer())") }
    }

    private func changeTokyo() async throws {
        guard let population = try await insist({ try await cities.fetch(forKey: tokyo) })?.population else {
            throw FleetError(description: "Tokyo is not in the cache.")
        }
        for worker in workers { try worker.ask("watch \(tokyo) \(population)") }
        for worker in workers { _ = try worker.answer() }
        for worker in workers { try worker.ask("watch \(tokyo) \(population + 1)") }
        var begun = 0
        try await insist {
            begun = Worker.now
            try await cities.modify(forKey: tokyo) { $0?.population = population + 1 }
        }
        let times = try workers.map { worker in
            guard let seen = Int(try worker.answer()) else { throw FleetError(description: "A process ended.") }
            return "\(Double((seen - begun) / 100) / 10) ms"
        }
        print("  \(times.joined(separator: ", "))")
    }

    /// One process makes a value, which takes a minute; the others wait for it. It is killed, and its lease ends two seconds
    /// later: then one other process makes the value, and the rest have it.
    private mutating func killProducer() async throws {
        try workers[0].ask("load -1 60000")
        guard try workers[0].answer() == Worker.producing else {
            throw FleetError(description: "The city is in the cache already.")
        }
        for worker in workers.dropFirst() { try worker.ask("load -1 300") }
        try await Task.sleep(for: .milliseconds(500))
        workers[0].kill()
        for (number, worker) in workers.enumerated().dropFirst() {
            var answer = try worker.answer()
            if answer == Worker.producing { answer = try worker.answer() }
            print("  process \(number + 1): \(answer)")
        }
        workers[0] = try WorkerProcess(arguments)
    }

    /// Calls while the servers take no entries.
    private func useFullServers() async {
        func show(_ call: String, _ body: () async throws -> String) async {
            do {
                print("  \(call): \(try await body())")
            } catch {
                print("  \(call): throws “\(error.localizedDescription)”")
            }
        }
        print("The servers are full:")
        await show("a fetch of Tokyo") { try await cities.fetch(forKey: tokyo)?.name ?? "nothing" }
        await show("a fetch with a producer, of a city that is nowhere") {
            try await cities.fetch(forKey: -2) { City.made(-2) }.name + ", not saved"
        }
        await show("a save") {
            try await cities.save(City.made(-3), forKey: -3)
            return "saved"
        }
    }

    /// Repeats a call until the server answers it, which may take some seconds after a master was lost.
    private func insist<Result>(_ body: () async throws -> Result) async throws -> Result {
        while true {
            do {
                return try await body()
            } catch let error as CacheError where error.code == .unreachable {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}

/// A worker, as the process that started it sees it. It ends when this one does, which closes its standard input.
final class WorkerProcess {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var rest = Data()

    init(_ arguments: [String]) throws {
        // The shell may have found the program by its name alone.
        process.executableURL = Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Ends it without a chance to clean up.
    func kill() {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func ask(_ line: String) throws { try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8)) }

    /// The next line that it writes.
    func answer() throws -> String {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest.removeSubrange(...end) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            // A read of a number of bytes would wait for all of them.
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { throw FleetError(description: "A process ended.") }
            rest += more
        }
    }
}

/// A failure, in one sentence.
struct FleetError: Error {
    let description: String
}
