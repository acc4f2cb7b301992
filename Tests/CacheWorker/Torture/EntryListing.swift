import Foundation

/// The entries of a cache and the bytes of their files, as the file system tells.
struct EntryListing {
    private(set) var count = 0
    /// Of all files, with what is in segments besides entries.
    private(set) var byteCount = 0
    private(set) var largestByteCount = 0

    /// - Parameter cache: The cache's own directory; if it is missing there are no entries.
    init(cache: URL) throws {
        let manager = FileManager.default
        guard manager.fileExists(atPath: cache.path) else { return }
        try addSegments(of: cache)
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

    // MARK: Segments

    /// Counts the keys whose last record is an entry.
    private mutating func addSegments(of cache: URL) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: cache.path).filter {
            $0.hasSuffix(".segment")
        }
        var segments: [[UInt8]: UInt64] = [:]
        for name in names.sorted() {
            // What goes meanwhile is not there.
            guard let data = try? Data(contentsOf: cache.appending(path: name)),
                let number = UInt64(name.prefix(8), radix: 16)
            else { continue }
            byteCount += data.count
            add([UInt8](data), number, to: &segments)
        }
        count += segments.count
    }

    private mutating func add(_ bytes: [UInt8], _ segment: UInt64, to segments: inout [[UInt8]: UInt64]) {
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            bytes[offset..<(offset + count)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        guard bytes.count >= Self.segmentHead else { return }
        var offset = Self.segmentHead + Int(number(24, 4))
        while offset + Self.recordHead <= bytes.count, number(offset, 4) == 0x5443_5052 {
            let keyByteCount = Int(number(offset + 14, 2))
            let recordByteCount =
                Self.recordHead + keyByteCount + Int(number(offset + 16, 2) + number(offset + 20, 4))
            // The last one may be half written.
            guard offset + recordByteCount <= bytes.count else { return }
            let start = offset + Self.recordHead
            let key = Array(bytes[start..<(start + keyByteCount)])
            switch bytes[offset + 12] {
            case 1:
                segments[key] = segment
                largestByteCount = max(largestByteCount, recordByteCount)
            case 2: segments[key] = nil
            case 3:
                let floor = number(offset + 40, 8)
                segments = segments.filter { $0.value >= floor }
            default: break
            }
            offset += recordByteCount
        }
    }

    private static let segmentHead = 36
    private static let recordHead = 64
}
