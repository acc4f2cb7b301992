import BenchmarkKit
import Foundation
import TypedCache
import Workloads

/// Replays a trace over the memory tier of a `Cache`, by its public calls.
enum CacheReplay {
    private struct Token: Codable, Encoded, Sendable {
        let number: UInt32
    }

    /// How many requests are answered from memory, where `capacity` entries fit. All others put their entry
    /// there: from disk, where it is after the first time, or by saving it.
    ///
    /// - Parameter folder: an empty folder, best on a file system in memory; it is removed.
    static func hits(in trace: Trace, capacity: Int, folder: URL) throws -> Int {
        defer { removeFolder(folder) }
        let cache = try Cache<Token>(
            name: "replay",
            directory: folder,
            memory: MemorySettings(countLimit: capacity)
        )
        for key in trace.requests {
            if try cache.fetch(forKey: Int(key)) == nil {
                try cache.save(Token(number: key), forKey: Int(key))
            }
        }
        let statistics = cache.statistics
        guard statistics.memoryHits + statistics.diskHits + statistics.misses == trace.requests.count else {
            throw BenchmarkError("statistics do not add up to the requests: \(statistics)")
        }
        return statistics.memoryHits
    }

    /// Files that are left, if any, go with the folders of the whole run.
    private static func removeFolder(_ folder: URL) {
        try? FileManager.default.removeItem(at: folder)
    }
}
