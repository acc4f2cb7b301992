import Foundation

/// Removes folders of a million files, which Foundation takes several times as long for.
enum FolderRemoval {
    /// - Throws: if `rm` fails.
    static func remove(_ folder: URL) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/rm")
        process.arguments = ["-rf", folder.path]
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw BenchmarkError("\(folder.path) could not be removed") }
    }
}
