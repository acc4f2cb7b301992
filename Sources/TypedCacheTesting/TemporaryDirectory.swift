import Foundation

/// A directory for the caches of one test, removed with all that is in it when the object is released.
///
/// ```swift
/// let directory = try TemporaryDirectory()
/// let cities = try Cache<City>(name: "cities", directory: directory.url)
/// ```
///
/// Keep the object as long as its caches are used, for example in a property of the suite.
public final class TemporaryDirectory: Sendable {
    /// The directory: new, empty, and the user's alone.
    public let url: URL

    /// Makes a directory. Does disk I/O.
    ///
    /// - Throws: the file system's error.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(
            path: "typed-cache-\(UUID().uuidString)",
            directoryHint: .isDirectory
        )
        try FileManager.default.createDirectory(
            at: url,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
    }

    deinit {
        // A cache that was just released may be writing its index, so the directory may fill again while it is removed.
        for _ in 0..<50 {
            do {
                try FileManager.default.removeItem(at: url)
            } catch {
                if !FileManager.default.fileExists(atPath: url.path) { return }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }
}
