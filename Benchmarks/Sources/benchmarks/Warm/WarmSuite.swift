import BenchmarkKit
import Foundation

/// Filling a cache from a file of records, as programs do it from start to end.
struct WarmSuite: Suite {
    static let name = "warm"
    static let summary = "filling a cache from a file by the command, beside Python programs"

    func run(_ context: Context) throws {
        let records = City.file
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
                runs[index].append(
                    try WarmRun(contestant, records: records, count: recordCount, into: place, log: log)
                )
            }
        }
        // Not before: some file systems make new files slowly after many were freed.
        try FolderRemoval.remove(folder)

        for (contestant, runs) in zip(contestants, runs) {
            record(runs, of: contestant, parameters: parameters, in: context)
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
        parameters: [String: String],
        in context: Context
    ) {
        func value(_ work: String, unit: String, better: Direction = .lower, figure: (WarmRun) -> Double) {
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
        value("warm a cache", unit: "records/s", better: .higher) { $0.recordsPerSecond }
        value("most memory while warming", unit: "MiB") { Self.mebibytes($0.peakMemory) }
        value("disk space after warming, by length", unit: "MiB") { Self.mebibytes($0.usage.apparentBytes) }
        value("disk space after warming, by blocks", unit: "MiB") { Self.mebibytes($0.usage.allocatedBytes) }
    }

    private static func mebibytes(_ bytes: Int) -> Double { Double(bytes) / Double(1 << 20) }
}

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
    init(_ contestant: WarmContestant, records: URL, count: Int, into folder: URL, log: URL) throws {
        let process = try ChildProcess(contestant.executable, contestant.arguments(records, folder), log: log)
        guard process.status == 0 else {
            throw BenchmarkError("\(contestant.name) ended with \(process.status): \(process.output)")
        }
        recordsPerSecond = Double(count) / (process.duration / .seconds(1))
        peakMemory = process.peakMemory
        usage = try DiskUsage(of: folder)
    }
}

/// A program that fills a folder with the records of a file.
struct WarmContestant {
    let name: String
    var isOurs = false
    let executable: String
    let arguments: (_ records: URL, _ folder: URL) -> [String]
    /// Why it cannot be run here, if so.
    var obstacle: String?

    /// The field that each program uses as the key.
    private static let keyField = "geonameid"

    /// The package's own command.
    ///
    /// - Parameter shared: the URL of a server to fill instead of a folder.
    static func command(_ name: String = "typed-cache warm", shared: String? = nil) -> WarmContestant {
        let path = PackageFolder.url.appending(path: "../.build/release/typed-cache").standardizedFileURL.path
        let isThere = FileManager.default.isExecutableFile(atPath: path)
        return WarmContestant(
            name: name,
            isOurs: true,
            executable: path,
            arguments: { records, folder in
                ["warm", records.path] + (shared.map { ["--shared", $0] } ?? ["--root", folder.path])
                    + ["--cache", "cities", "--key", keyField, "--quiet"]
            },
            obstacle: isThere ? nil : "not built; run swift build -c release --product typed-cache in the package"
        )
    }

    /// Programs that do the same with other means.
    static func peers(log: URL) throws -> [WarmContestant] {
        let hasPython = (try? ChildProcess("python3", ["-c", "import sqlite3"], log: log).status) == 0
        let hasDiskCache = (try? ChildProcess("python3", ["-c", "import diskcache"], log: log).status) == 0
        let noPython = hasPython ? nil : "python3 with sqlite3 is not here"
        return [
            python(
                "Python sqlite3, 1,000 a transaction",
                script: "warm_sqlite.py",
                options: ["1000"],
                obstacle: noPython
            ),
            python("Python sqlite3, autocommit", script: "warm_sqlite.py", options: ["1"], obstacle: noPython),
            python(
                "Python diskcache",
                script: "warm_diskcache.py",
                obstacle: hasDiskCache ? nil : "not here; python3 -m pip install diskcache"
            ),
            python("Python, a JSON file each", script: "warm_json_files.py", obstacle: noPython),
        ]
    }

    private static func python(
        _ name: String,
        script: String,
        options: [String] = [],
        obstacle: String?
    ) -> WarmContestant {
        let path = PackageFolder.url.appending(path: "Peers/\(script)").path
        return WarmContestant(
            name: name,
            executable: "python3",
            arguments: { records, folder in [path, records.path, folder.path, keyField] + options },
            obstacle: obstacle
        )
    }
}
