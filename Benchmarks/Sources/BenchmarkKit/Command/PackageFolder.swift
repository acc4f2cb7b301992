import Foundation

/// The folder of this package: results belong there, and runs name the commit of its checkout.
enum PackageFolder {
    /// The nearest folder above the executable that has a manifest; without one, the working directory.
    static let url: URL = {
        let manager = FileManager.default
        var folder = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
            .resolvingSymlinksInPath()
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if manager.fileExists(atPath: folder.appending(path: "Package.swift").path) { return folder }
        }
        return URL(filePath: manager.currentDirectoryPath, directoryHint: .isDirectory)
    }()
}
