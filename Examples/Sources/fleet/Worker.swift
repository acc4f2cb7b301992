import Foundation
import SharedCache
import TypedCache

/// One process of the fleet: performs the command in each line of its standard input, and answers with one line.
struct Worker {
    private let tier: SharedTier
    private let cities: Cache<City>
    private let expected: [City]

    init(server: String, file: String) throws {
        // The time for which a process that is killed holds up others.
        tier = try SharedTier(server, SharedSettings(loads: .oncePerFleet(lease: .seconds(2))))
        cities = try Cache<City>(name: "cities", shared: tier)
        expected = try Self.cities(in: file)
    }

    static func cities(in file: String) throws -> [City] {
        try Data(contentsOf: URL(filePath: file)).split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(City.self, from: $0)
        }
    }

    func run() async throws {
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            switch (words.first, words.dropFirst().compactMap { Int($0) }) {
            case ("read", _): await answer(readAll())
            case ("watch", let numbers) where numbers.count == 2:
                await answer(waitForPopulation(numbers[1], of: numbers[0]))
            case ("load", let numbers) where numbers.count == 2:
                await answer(load(numbers[0], in: .milliseconds(numbers[1])))
            default: return
            }
        }
        await tier.close()
    }

    private func answer(_ text: String) async {
        print(text)
        fflush(nil)
    }

    /// Reads every city, some at a time, and compares it with the file. A server that does not answer is asked again.
    private func readAll() async -> String {
        let clock = ContinuousClock()
        let start = clock.now
        var (equal, missing, failures) = (0, 0, 0)
        for first in stride(from: 0, to: expected.count, by: 100) {
            let some = expected[first..<min(first + 100, expected.count)]
            while true {
                do {
                    let found = try await cities.fetch(forKeys: some.map(\.geonameid))
                    for city in some {
                        guard let other = found[city.geonameid] else {
                            missing += 1
                            continue
                        }
                        if other.name == city.name, other.latitude == city.latitude { equal += 1 }
                    }
                    break
                } catch {
                    failures += 1
                    try? await Task.sleep(for: .milliseconds(20))
                }
            }
        }
        let seconds = ((clock.now - start) / .milliseconds(100)).rounded() / 10
        let hits = cities.statistics.memoryHits
        return "\(equal) of \(expected.count) cities equal, \(missing) missing, \(hits) hits in memory so far, "
            + "\(failures) calls without an answer, in \(seconds) s"
    }

    /// The line that tells of a producer's begin.
    static let producing = "producing"

    /// Fetches a city, which it makes, in so much time, if no other process does.
    private func load(_ id: Int, in time: Duration) async -> String {
        let start = Self.now
        do {
            let maker = try await cities.fetch(forKey: id) {
                await answer(Self.producing)
                try await Task.sleep(for: time)
                return City.made(id, by: ProcessInfo.processInfo.processIdentifier)
            }.admin1code
            let isOwn = maker == "\(ProcessInfo.processInfo.processIdentifier)"
            return "\(isOwn ? "made it" : "was given it"), after \(Double((Self.now - start) / 100_000) / 10) s"
        } catch {
            return "failed: \(error.localizedDescription)"
        }
    }

    /// Fetches a city, which is in memory, until it has a population.
    private func waitForPopulation(_ population: Int, of id: Int) async -> String {
        while (try? await cities.fetch(forKey: id))??.population != population {
            try? await Task.sleep(for: .microseconds(100))
        }
        // All processes of a machine share this clock.
        return "\(Self.now)"
    }

    /// Microseconds since the machine was started.
    static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }
}
