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
    ///   - folder: is made; the charts take the place of those that are in it, once all are drawn.
    /// - Returns: the charts; none if Python or matplotlib is missing, which Python reports on standard error: the former
    ///   charts stay then.
    /// - Throws: if the folder cannot be changed.
    static func draw(_ results: URL, into folder: URL) throws -> [Chart] {
        let manager = FileManager.default
        let drafts = folder.appending(path: ".drafts", directoryHint: .isDirectory)
        // An interrupted run may have left some.
        if manager.fileExists(atPath: drafts.path) { try manager.removeItem(at: drafts) }
        try manager.createDirectory(at: drafts, withIntermediateDirectories: true)
        let script = PackageFolder.url.appending(path: "charts.py")
        let output = Program.output(of: ["python3", script.path, results.path, drafts.path])
        if output != nil { try replaceCharts(in: folder, by: drafts) }
        try manager.removeItem(at: drafts)
        return charts(in: output ?? "")
    }

    /// Moves charts into a folder, over those of the same names, and removes the others that are in it.
    ///
    /// - Throws: if a file cannot be moved or removed.
    static func replaceCharts(in folder: URL, by drafts: URL) throws {
        let manager = FileManager.default
        func images(in folder: URL) throws -> [String] {
            try manager.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".png") }
        }
        let names = try images(in: drafts)
        for name in names {
            // At no moment is there no chart of this name.
            guard rename(drafts.appending(path: name).path, folder.appending(path: name).path) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            }
        }
        for name in try images(in: folder) where !names.contains(name) {
            try manager.removeItem(at: folder.appending(path: name))
        }
    }

    /// - Parameter output: of the script: a line for each chart, with tabs between suite, name and title.
    static func charts(in output: String) -> [Chart] {
        output.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t").map(String.init)
            return fields.count == 3 ? Chart(suite: fields[0], name: fields[1], title: fields[2]) : nil
        }
    }
}
