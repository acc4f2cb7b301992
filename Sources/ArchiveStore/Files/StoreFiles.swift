/// All files in a store's directory, also files of other programs.
package enum StoreFiles {
    /// The depth of the walk: a store's own directories are three deep, and each directory on the way is open.
    private static let mostDepth = 16

    /// The bytes of all regular files in the directory at `path` and below. Follows no links; a file that cannot be
    /// read, or that is removed in the meantime, counts as empty. Blocks on disk I/O.
    ///
    /// - Complexity: O(*n*) in the number of files.
    package static func byteCount(inDirectory path: String) -> Int { total(inDirectory: path).byteCount }

    /// The number of these files, and their bytes. Blocks on disk I/O.
    static func total(inDirectory path: String) -> (count: Int, byteCount: Int) {
        var total = (count: 0, byteCount: 0)
        if let directory = try? Directory(path: path, layer: FileLayer()) { add(directory, to: &total, depth: 1) }
        return total
    }

    private static func add(_ directory: Directory, to total: inout (count: Int, byteCount: Int), depth: Int) {
        var directories: [String] = []
        bestEffort("what cannot be listed counts as empty") { () throws(SystemError) in
            try directory.forEachName { name in
                guard let status = try? directory.status(name) else { return true }
                if status.isRegular { total = (total.count + 1, sum(total.byteCount, status.byteCount)) }
                if status.isDirectory { directories.append(name) }
                return true
            }
        }
        guard depth < mostDepth else { return }
        for name in directories {
            guard let found = try? directory.directory(name) else { continue }
            add(found, to: &total, depth: depth + 1)
        }
    }

    /// Files with holes may have any lengths.
    private static func sum(_ left: Int, _ right: Int) -> Int { left > .max - right ? .max : left + right }
}
