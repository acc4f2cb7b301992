import Foundation

/// The files of a cache's entries, as the file system tells.
struct EntryListing {
    private(set) var count = 0
    private(set) var byteCount = 0
    private(set) var largestByteCount = 0

    /// - Parameter cache: The cache's own directory; if it is missing there are no entries.
    init(cache: URL) throws {
        let manager = FileManager.default
        guard manager.fileExists(atPath: cache.path) else { return }
        for shard in try manager.contentsOfDirectory(atPath: cache.path) where Self.isShard(shard) {
            let folder = cache.path + "/" + shard
            for file in try manager.contentsOfDirectory(atPath: folder) {
                var status = stat()
                // What goes meanwhile is not there.
                guard lstat(folder + "/" + file, &status) == 0 else { continue }
                count += 1
                byteCount += Int(status.st_size)
                largestByteCount = max(largestByteCount, Int(status.st_size))
            }
        }
    }

    private static func isShard(_ name: String) -> Bool { name.count == 2 && UInt8(name, radix: 16) != nil }
}
