import Foundation

/// A chart of a report, in two files: one for light pages and one for dark ones.
struct Chart: Equatable {
    let suite: String
    /// The name of its files, without theme and extension.
    let name: String
    let title: String

    /// Draws the charts of a run, by `charts.py`.
    ///
    /// - Parameters:
    ///   - results: the file of the run.
    ///   - folder: is made; charts that are in it are removed.
    /// - Returns: the charts; none if Python or matplotlib is missing, which Python reports on standard error.
    /// - Throws: if the folder cannot be changed.
    static func draw(_ results: URL, into folder: URL) throws -> [Chart] {
        let manager = FileManager.default
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        for old in try manager.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        where old.pathExtension == "png" {
            try manager.removeItem(at: old)
        }
        let script = PackageFolder.url.appending(path: "charts.py")
        return charts(in: Program.output(of: ["python3", script.path, results.path, folder.path]) ?? "")
    }

    /// - Parameter output: of the script: a line for each chart, with tabs between suite, name and title.
    static func charts(in output: String) -> [Chart] {
        output.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t").map(String.init)
            return fields.count == 3 ? Chart(suite: fields[0], name: fields[1], title: fields[2]) : nil
        }
    }
}
