import BenchmarkKit
import Foundation

/// The disk space of a folder and all of its contents.
struct DiskUsage {
    /// By the lengths of files.
    private(set) var apparentBytes = 0
    /// By the blocks that the file system gave them; those of directories too.
    private(set) var allocatedBytes = 0

    /// Links are not followed.
    ///
    /// - Throws: if a file or directory cannot be looked at.
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

/// Removes folders of a million files, which Foundation takes several times as long for.
enum FolderRemoval {
    /// - Throws: if `rm` fails.
    static func remove(_ folder: URL) throws {
        guard Program.output(of: ["rm", "-rf", folder.path]) != nil else {
            throw BenchmarkError("\(folder.path) could not be removed")
        }
    }
}
