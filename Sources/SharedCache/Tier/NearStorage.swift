import ArchiveStore
import Foundation
import TypedCache

/// Where a machine keeps copies of a server's entries.
public struct NearStorage: Sendable, Hashable {
    private let disk: DiskSettings?
    private let directory: URL?

    /// In memory alone.
    public static let memory = NearStorage(disk: nil, directory: nil)

    /// In memory and on this machine's disk, so that a process that starts again compares 59 bytes with the server's
    /// instead of reading each value.
    ///
    /// A copy is used unasked only while the server tells of changes, and only if it was compared since. A disk that
    /// fails costs speed alone. Several processes may share the directory.
    ///
    /// - Parameters:
    ///   - settings: how much is kept.
    ///   - directory: the directory that holds the copies' own; by default a folder named after the program, in the
    ///     user's cache directory.
    public static func disk(
        _ settings: DiskSettings = DiskSettings(),
        directory: URL? = nil
    ) -> NearStorage {
        NearStorage(disk: settings, directory: directory)
    }

    /// The store on disk for the copies of one cache; `nil` if there is none. Opens it, which blocks.
    ///
    /// - Parameter owner: tells caches of one name apart.
    func store(cache: String, owner: String) throws(CacheError) -> (any ArchiveStore)? {
        guard let disk else { return nil }
        let root = (directory ?? CacheDirectory.standard())
            .appending(path: "shared", directoryHint: .isDirectory)
            .appending(path: owner, directoryHint: .isDirectory)
        return try CacheDirectory.open(cache, in: root, create: true, disk: disk).store
    }
}
