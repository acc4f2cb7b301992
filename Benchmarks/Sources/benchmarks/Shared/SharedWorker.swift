import BenchmarkKit
import Foundation
import SharedCache
import Synchronization
import TypedCache

/// A text that knows its version.
struct Note: Codable, Encoded, Sendable {
    let version: Int
    let text: String
}

/// A process of its own with a cache on the server: it does the work of each line that it reads, and answers by lines.
struct SharedWorker {
    /// The first argument of such a process; the second is the server's URL.
    static let argument = "shared-worker"

    private let cache: Cache<Note>

    static func start(_ url: String) throws -> LineProcess {
        let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
        let worker = try LineProcess(path, [argument, url])
        guard try worker.answer() == ["ready"] else { throw BenchmarkError("a worker is not ready") }
        return worker
    }

    static func run(_ url: String) -> Int32 {
        do {
            let tier = try SharedTier(url)
            let worker = SharedWorker(cache: try Cache(name: "notes", shared: tier))
            while !tier.isVerified { usleep(1_000) }
            answer("ready")
            while let line = readLine() {
                let words = line.split(separator: " ").map(String.init)
                let numbers = words.dropFirst().map { Int($0) ?? 0 }
                switch words.first {
                case "watch": try worker.watch(words[1], versions: numbers[1])
                case "load": try worker.load(words[1], tasks: numbers[1], at: numbers[2])
                case "write":
                    try worker.write(numbers[0]..<numbers[1], version: numbers[2], at: numbers[3])
                case "read": try worker.read(numbers[0])
                default: throw BenchmarkError("a worker knows no “\(line)”")
                }
            }
            return 0
        } catch {
            FileHandle.standardError.write(Data("\(argument): \(error)\n".utf8))
            return 1
        }
    }

    private static func answer(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    /// Sleeps, then spins, until a time of the machine's clock.
    private static func wait(until time: Int) {
        let left = Double(time) - MonotonicTime.nanoseconds()
        if left > 2e6 { usleep(UInt32((left - 1e6) / 1_000)) }
        while MonotonicTime.nanoseconds() < Double(time) {}
    }

    /// Fetches a key again and again, and tells when each version was there.
    private func watch(_ key: String, versions: Int) throws {
        var seen = 0
        Self.answer("watching")
        while seen < versions {
            let version = try cache.fetch(forKey: key)?.version ?? 0
            if version > seen {
                Self.answer("\(version) \(Int(MonotonicTime.nanoseconds()))")
                seen = version
            }
            usleep(200)
        }
    }

    /// Has tasks load one key, and tells how many producers ran and how many tasks got a value.
    private func load(_ key: String, tasks: Int, at time: Int) throws {
        let producers = Counter()
        let cache = cache
        Self.wait(until: time)
        let values = try BlockingTask.run {
            try await withThrowingTaskGroup(of: Note.self) { group in
                for _ in 0..<tasks {
                    group.addTask {
                        try await cache.fetch(forKey: key) {
                            producers.add()
                            try await Task.sleep(for: .milliseconds(20))
                            return Note(version: 1, text: key)
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1.text == key ? 1 : 0) }
            }
        }
        Self.answer("\(producers.count) \(values)")
    }

    /// Saves a version of each of some keys, some dozen at once.
    private func write(_ keys: Range<Int>, version: Int, at time: Int) throws {
        let cache = cache
        Self.wait(until: time)
        try BlockingTask.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<32 {
                    group.addTask {
                        for key in stride(from: keys.lowerBound + lane, to: keys.upperBound, by: 32) {
                            try await cache.save(Note(version: version, text: ""), forKey: "trial-\(key)")
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        Self.answer("written")
    }

    /// Tells the version of each of the first keys of the trial.
    private func read(_ count: Int) throws {
        let versions = try (0..<count).map { try cache.fetch(forKey: "trial-\($0)")?.version ?? 0 }
        Self.answer(versions.map { "\($0)" }.joined(separator: " "))
    }
}

private final class Counter: Sendable {
    private let value = Atomic<Int>(0)

    var count: Int { value.load(ordering: .relaxed) }
    func add() { value.add(1, ordering: .relaxed) }
}
