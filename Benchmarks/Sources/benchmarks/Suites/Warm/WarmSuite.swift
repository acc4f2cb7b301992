import BenchmarkKit
import Foundation

/// Filling a cache from a file of records, as programs do it from start to end.
struct WarmSuite: Suite {
    static let name = "warm"
    static let summary = "filling a cache from a file by the command, beside Python programs"

    func run(_ context: Context) throws {
        let records = CityRecords.file
        let recordCount = try String(contentsOf: records, encoding: .utf8).split(separator: "\n").count
        let parameters = ["records": "\(recordCount)"]
        let log = try context.makeFolder("log").appending(path: "output")
        let all = [WarmContestant.command()] + (try WarmContestant.peers(log: log))
        let contestants = all.filter { $0.obstacle == nil }

        var runs = [[WarmRun]](repeating: [], count: contestants.count)
        let folder = try context.makeFolder("warmed")
        for round in 0..<(context.isQuick ? 1 : 3) {
            // In turns, so that other load on the machine meets all.
            for (index, contestant) in contestants.enumerated() {
                context.progress(contestant.name)
                let place = folder.appending(path: "\(round)-\(index)", directoryHint: .isDirectory)
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                runs[index].append(try WarmRun(contestant, records, recordCount, into: place, log: log))
            }
        }
        // Not before: some file systems make new files slowly after many were freed.
        try FolderRemoval.remove(folder)

        for (contestant, runs) in zip(contestants, runs) {
            record(runs, of: contestant, parameters, context)
        }
        for contestant in all {
            guard let obstacle = contestant.obstacle else { continue }
            context.unavailable(
                work: "warm a cache",
                parameters: parameters,
                subject: contestant.name,
                reason: obstacle
            )
        }
    }

    private func record(
        _ runs: [WarmRun],
        of contestant: WarmContestant,
        _ parameters: [String: String],
        _ context: Context
    ) {
        func value(_ work: String, _ unit: String, better: Direction = .lower, _ figure: (WarmRun) -> Double) {
            context.value(
                work: work,
                parameters: parameters,
                subject: contestant.name,
                isOurs: contestant.isOurs,
                unit: unit,
                better: better,
                samples: runs.map(figure)
            )
        }
        value("warm a cache", "records/s", better: .higher) { $0.recordsPerSecond }
        value("most memory while warming", "MiB") { Self.mebibytes($0.peakMemory) }
        value("disk space after warming, by length", "MiB") { Self.mebibytes($0.usage.apparentBytes) }
        value("disk space after warming, by blocks", "MiB") { Self.mebibytes($0.usage.allocatedBytes) }
    }

    private static func mebibytes(_ bytes: Int) -> Double { Double(bytes) / Double(1 << 20) }
}
