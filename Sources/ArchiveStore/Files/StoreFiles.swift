/// All files in a store's directory, also files of other programs.
package enum StoreFiles {
    /// The depth of the walk: a store's own directories are three deep, and each directory on the way is open.
    private static let mostDepth = 16

    /// The bytes of all regular files in the directory at `path` and below. Follows no links; a file that cannot be
    /// read, or that is removed in the meantime, counts as empty. Blocks on disk I/O.
    ///
    /// - Complexity: O(*n*) in the number of files.
    package static func byteCount(inDirectory path: String) -> Int {
        (try? Directory(path: path, layer: FileLayer())).map { byteCount(of: $0, depth: 1) } ?? 0
    }

    private static func byteCount(of directory: Directory, depth: Int) -> Int {
        var count = 0
        var directories: [String] = []
        bestEffort("what cannot be listed counts as empty") { () throws(SystemError) in
            try directory.forEachName { name in
                guard let status = try? directory.status(name) else { return true }
                if status.isRegular { count = sum(count, status.byteCount) }
                if status.isDirectory { directories.append(name) }
                return true
            }
        }
        guard depth < mostDepth else { return count }
        for name in directories {
            guard let found = try? directory.directory(name) else { continue }
            count = sum(count, byteCount(of: found, depth: depth + 1))
        }
        return count
    }

    /// Files with holes may have any lengths.
    private static func sum(_ left: Int, _ right: Int) -> Int { left > .max - right ? .max : left + right }
}
