import Foundation
import SharedCache
import TypedCache

// A machine of a fleet: works on a cache on a server as its standard input says, and answers each line by one.
//
//     SharedWorker URL INTERVAL DEADLINE    heartbeats, in milliseconds
//
//     fetch KEY         the value, or “-”
//     hits              how many fetches memory has answered
//     load KEY VALUE    the value of a fetch with a producer, and “loaded” behind it if the producer ran

let arguments = CommandLine.arguments
guard arguments.count == 4, let interval = Int(arguments[2]), let deadline = Int(arguments[3]) else { exit(2) }
let settings = SharedSettings(
    timeouts: .init(connect: .seconds(20), soft: .seconds(20), hard: .seconds(20)),
    heartbeat: .init(interval: .milliseconds(interval), deadline: .milliseconds(deadline))
)
let tier = try SharedTier(arguments[1], settings)
let cache = try Cache<String>(name: "cities", shared: tier)

func answer(_ words: [String]) async throws -> String {
    switch words.first {
    case "fetch" where words.count == 2: return try await cache.fetch(forKey: words[1]) ?? "-"
    case "hits": return "\(cache.statistics.memoryHits)"
    case "load" where words.count == 3:
        let value = words[2]
        let runs = cache.statistics.loads
        let loaded = try await cache.fetch(forKey: words[1]) { value }
        return cache.statistics.loads > runs ? "\(loaded) loaded" : loaded
    default: return "?"
    }
}

while let line = readLine() {
    let told: String
    do {
        told = try await answer(line.split(separator: " ").map(String.init))
    } catch {
        told = "error \(error)"
    }
    FileHandle.standardOutput.write(Data("\(told)\n".utf8))
}
