import CForking
import Foundation
import SharedCache
import TypedCache

// A machine of a fleet: works on a cache on a server, or a cluster, as its standard input says, and answers each line by
// one.
//
//     SharedWorker URL INTERVAL DEADLINE    heartbeats, in milliseconds; timeouts are 20 s, unless the URL has others
//
//     fetch KEY          the value, or “-”
//     latest KEY         the same, but asks the server
//     hits               how many fetches memory has answered
//     owed               how many keys are owed to the server
//     save KEY VALUE     “saved”
//     load KEY VALUE     the value of a fetch with a producer, and “loaded” after it if the producer ran
//     fork               “forked” if a tier in a forked child is refused with code .forked
//     count KEY COUNT    the numbers that so many modifications gave, each by one more than the value that it found
//
// A call that throws is answered by “error” and the code.

let arguments = CommandLine.arguments
guard arguments.count == 4, let interval = Int(arguments[2]), let deadline = Int(arguments[3]) else { exit(2) }
let settings = SharedSettings(
    timeouts: .init(connect: .seconds(20), soft: .seconds(20), hard: .seconds(20)),
    heartbeat: .init(interval: .milliseconds(interval), deadline: .milliseconds(deadline))
)
let tier = try SharedTier(arguments[1], settings)
let cache = try Cache<String>(name: "cities", shared: tier)

/// Counts in an entry: its value is the number of a life, and that of a modification in it. An entry that is missing,
/// because a change without an answer is undone by its removal, begins another life.
func count(_ key: String, _ count: Int) async throws -> String {
    var given: [String] = []
    while given.count < count {
        let life = "\(UInt64.random(in: 0 ... .max))"
        do {
            let new = try await cache.modify(forKey: key, expiration: .never) { value in
                let parts = (value ?? "\(life):0").split(separator: ":")
                let new = "\(parts[0]):\((Int(parts[1]) ?? 0) + 1)"
                value = new
                return new
            }
            given.append(new)
        } catch {
            guard error.code == .unreachable else { throw error }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
    return given.joined(separator: " ")
}

/// Opens a tier in a forked child.
func fork() -> String {
    var status: Int32 = 0
    for _ in 0..<3 {
        let process = fork_process()
        if process == 0 {
            // A child that waits for ever ends by this.
            alarm(20)
            do {
                _ = try SharedTier(arguments[1])
            } catch {
                _exit(error.code == .forked ? 0 : 1)
            }
            _exit(2)
        }
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        // A lock that another thread had just then stays taken in the child.
        if status != SIGALRM { break }
    }
    return status == 0 ? "forked" : "status \(status)"
}

func answer(_ words: [String]) async throws -> String {
    switch words.first {
    case "fetch" where words.count == 2: return try await cache.fetch(forKey: words[1]) ?? "-"
    case "latest" where words.count == 2: return try await cache.fetch(forKey: words[1], freshness: .latest) ?? "-"
    case "hits": return "\(cache.statistics.memoryHits)"
    case "owed": return "\(tier.owedKeyCount)"
    case "save" where words.count == 3:
        try await cache.save(words[2], forKey: words[1])
        return "saved"
    case "load" where words.count == 3:
        let value = words[2]
        let runs = cache.statistics.loads
        let loaded = try await cache.fetch(forKey: words[1]) { value }
        return cache.statistics.loads > runs ? "\(loaded) loaded" : loaded
    case "fork": return fork()
    case "count" where words.count == 3: return try await count(words[1], Int(words[2]) ?? 0)
    default: return "?"
    }
}

while let line = readLine() {
    let told: String
    do {
        told = try await answer(line.split(separator: " ").map(String.init))
    } catch let error as CacheError {
        told = "error \(error.code)"
    } catch {
        told = "error \(error)"
    }
    FileHandle.standardOutput.write(Data("\(told)\n".utf8))
}
