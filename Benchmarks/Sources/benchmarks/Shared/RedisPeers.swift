import BenchmarkKit
import Foundation

/// Redis' own load generator, which encodes and decodes nothing: the floor.
struct RedisBenchmark {
    let program: String
    let port: Int
    let log: URL

    /// - Parameter command: `get` or `set`.
    func contestants(_ command: String, tasks: Int) -> [RemoteContestant] {
        let pipeline = contestant("redis-benchmark, a pipeline of \(tasks)", command, clients: 1, depth: tasks)
        if tasks == 1 { return [pipeline] }
        return [pipeline, contestant("redis-benchmark, \(tasks) connections", command, clients: tasks, depth: 1)]
    }

    private func contestant(_ name: String, _ command: String, clients: Int, depth: Int) -> RemoteContestant {
        var perSecond = 20_000.0
        return RemoteContestant(name: name) { seconds in
            let work = try run(command, clients: clients, depth: depth, count: Int(perSecond * seconds))
            perSecond = work.perSecond
            return work
        }
    }

    private func run(_ command: String, clients: Int, depth: Int, count: Int) throws -> RemoteWork {
        let arguments = [
            "-p", "\(port)", "-c", "\(clients)", "-P", "\(depth)", "-d", "1024", "-t", command, "--csv",
        ]
        let process = try ChildProcess(program, arguments + ["-n", "\(max(count, 1_000))"], log: log)
        // "GET","481540.91",…
        let words = process.output.split(separator: "\n").last?.split(separator: ",") ?? []
        guard process.status == 0, words.count > 1, let perSecond = Double(words[1].filter { $0 != "\"" }) else {
            throw BenchmarkError("redis-benchmark ended with \(process.status): \(process.output)")
        }
        let cpu = process.processorTime / .microseconds(1) / Double(max(count, 1_000))
        return RemoteWork(perSecond: perSecond, processorTime: cpu)
    }
}

/// Python's clients, each value pickled.
struct PythonPeers {
    private let process: LineProcess

    /// Why they are not here; `nil` if they are.
    static func obstacle(log: URL) -> String? {
        let status = (try? ChildProcess("python3", ["-c", "import redis, hiredis, cashews"], log: log))?.status
        return status == 0 ? nil : "not here; python3 -m pip install redis hiredis cashews"
    }

    /// - Parameter articles: a file with a list of articles in JSON.
    init(port: Int, articles: URL) throws {
        let script = PackageFolder.url.appending(path: "Peers/shared_redis.py").path
        process = try LineProcess("/usr/bin/env", ["python3", script, "\(port)", articles.path])
        guard try process.answer() == ["ready"] else { throw BenchmarkError("the Python peer is not ready") }
    }

    func end() { process.end() }

    /// - Parameter command: `fetch` or `save`.
    func contestants(_ command: String, tasks: Int) -> [RemoteContestant] {
        var ways = [("redis-py", "sync"), ("redis-py, asyncio", "asyncio")]
        if tasks > 1 { ways = [("redis-py, threads", "threads"), ways[1], ("redis-py, pipeline", "pipeline")] }
        return ways.map { name, way in
            RemoteContestant(name: name) { seconds in
                let words = try process.ask("\(command) \(way) \(tasks) \(seconds)")
                guard words.count == 2, let perSecond = Double(words[0]), let cpu = Double(words[1]) else {
                    throw BenchmarkError("the Python peer answered \(words)")
                }
                return RemoteWork(perSecond: perSecond, processorTime: cpu)
            }
        }
    }

    /// A number that the peer finds out.
    func number(_ command: String) throws -> Double {
        let words = try process.ask(command)
        guard words.count == 1, let number = Double(words[0]) else {
            throw BenchmarkError("the Python peer answered \(words)")
        }
        return number
    }
}
