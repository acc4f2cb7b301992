import Foundation

/// The speed, memory and disk space of a program that fills a folder, from start to end.
struct WarmRun {
    let recordsPerSecond: Double
    /// In bytes.
    let peakMemory: Int
    let usage: DiskUsage

    /// - Parameters:
    ///   - folder: an empty folder.
    ///   - log: a file for the program's output.
    /// - Throws: if the program fails, with its output.
    init(_ contestant: WarmContestant, _ records: URL, _ recordCount: Int, into folder: URL, log: URL) throws {
        let process = try ChildProcess(contestant.executable, contestant.arguments(records, folder), log: log)
        guard process.status == 0 else {
            throw BenchmarkError("\(contestant.name) ended with \(process.status): \(process.output)")
        }
        recordsPerSecond = Double(recordCount) / (process.duration / .seconds(1))
        peakMemory = process.peakMemory
        usage = try DiskUsage(of: folder)
    }
}
