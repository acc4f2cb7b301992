import ArchiveStore
import Foundation

/// Finds the caches in a directory, for tools.
package enum CacheListing {
    /// The names of the caches in `directory`, in order; of more than `limit`, the first that are found. None if the
    /// directory cannot be read. A cache that cannot be opened is among them. Blocks on disk I/O.
    package static func names(in directory: URL, atMost limit: Int = .max) -> [String] {
        folders(in: directory, atMost: limit) { name in
            StoreKind.isMarked(directory: directory.appending(path: name).path(percentEncoded: false))
        }
    }

    /// The names of folders in `directory` that may belong to caches or apps, in order; of more than `limit`, the first that
    /// are found.
    package static func folders(
        in directory: URL,
        atMost limit: Int = .max,
        where isWanted: (String) -> Bool = { _ in true }
    ) -> [String] {
        let path = directory.path(percentEncoded: false)
        guard let names = FileManager.default.enumerator(atPath: path) else { return [] }
        var folders: [String] = []
        while folders.count < limit, let name = names.nextObject() as? String {
            names.skipDescendants()
            let isFolder = names.fileAttributes?[.type] as? FileAttributeType == .typeDirectory
            if isFolder, !name.hasPrefix("."), isWanted(name) { folders.append(name) }
        }
        return folders.sorted()
    }
}
