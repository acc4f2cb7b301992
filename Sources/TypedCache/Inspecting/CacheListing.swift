import ArchiveStore
import Foundation

/// Finds the caches in a directory, for tools.
package enum CacheListing {
    /// How many names are looked at: messages tell a few.
    private static let mostNames = 1_000

    /// The names of the caches in `directory`, in order; none if it cannot be read. Blocks on disk I/O.
    package static func names(in directory: URL) -> [String] {
        folders(in: directory).filter { name in
            StoreKind(directory: directory.appending(path: name).path(percentEncoded: false)) != nil
        }
    }

    /// The names of the folders in `directory` that may be those of caches or apps, in order.
    package static func folders(in directory: URL) -> [String] {
        let path = directory.path(percentEncoded: false)
        guard let names = FileManager.default.enumerator(atPath: path) else { return [] }
        var folders: [String] = []
        while folders.count < mostNames, let name = names.nextObject() as? String {
            names.skipDescendants()
            if names.fileAttributes?[.type] as? FileAttributeType == .typeDirectory, !name.hasPrefix(".") {
                folders.append(name)
            }
        }
        return folders.sorted()
    }
}
