import Foundation

/// How much of a disk a folder takes, with all that is in it.
struct DiskUsage {
    /// By the lengths of files.
    private(set) var apparentBytes = 0
    /// By the blocks that the file system gave them; those of directories too.
    private(set) var allocatedBytes = 0

    /// - Throws: if something cannot be looked at. Links are not followed.
    init(of folder: URL) throws {
        try add(folder.path)
    }

    private mutating func add(_ path: String) throws {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw Self.failure(path) }
        allocatedBytes += Int(status.st_blocks) * 512
        guard status.st_mode & S_IFMT == S_IFDIR else {
            apparentBytes += Int(status.st_size)
            return
        }
        guard let directory = opendir(path) else { throw Self.failure(path) }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            if name != ".", name != ".." { try add("\(path)/\(name)") }
        }
    }

    private static func failure(_ path: String) -> BenchmarkError {
        BenchmarkError("looking at \(path): \(String(cString: strerror(errno)))")
    }
}
