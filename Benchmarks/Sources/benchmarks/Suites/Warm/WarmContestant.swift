import Foundation

/// A program that fills a folder with the records of a file.
struct WarmContestant {
    let name: String
    var isOurs = false
    let executable: String
    /// - Parameters: the file of records, and the folder.
    let arguments: (_ records: URL, _ folder: URL) -> [String]
    /// Why it cannot be run here, if so.
    var obstacle: String?

    /// The field that every program takes as the key.
    private static let keyField = "geonameid"

    /// The package's own command.
    static func command() -> WarmContestant {
        let path = BenchmarksFolder.url.appending(path: "../.build/release/typed-cache").standardizedFileURL.path
        let isThere = FileManager.default.isExecutableFile(atPath: path)
        return WarmContestant(
            name: "typed-cache warm",
            isOurs: true,
            executable: path,
            arguments: { records, folder in
                ["warm", records.path, "--root", folder.path, "--cache", "cities", "--key", keyField, "--quiet"]
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
            python("Python sqlite3, 1,000 a transaction", "warm_sqlite.py", ["1000"], noPython),
            python("Python sqlite3, autocommit", "warm_sqlite.py", ["1"], noPython),
            python(
                "Python diskcache",
                "warm_diskcache.py",
                [],
                hasDiskCache ? nil : "not here; python3 -m pip install diskcache"
            ),
            python("Python, a JSON file each", "warm_json_files.py", [], noPython),
        ]
    }

    private static func python(
        _ name: String,
        _ script: String,
        _ options: [String],
        _ obstacle: String?
    ) -> WarmContestant {
        let path = BenchmarksFolder.url.appending(path: "Peers/\(script)").path
        return WarmContestant(
            name: name,
            executable: "python3",
            arguments: { records, folder in [path, records.path, folder.path, keyField] + options },
            obstacle: obstacle
        )
    }
}
