import Foundation

/// The entries of a cache and the bytes of their files, as the file system tells.
struct EntryListing {
    private(set) var count = 0
    /// The length of all files; segments have more in them than entries.
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
                // A file that is deleted during the listing does not count.
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
            // A segment that is deleted during the listing does not count.
            guard let data = try? Data(contentsOf: cache.appending(path: name)),
                let number = UInt64(name.prefix(8), radix: 16)
            else { continue }
            byteCount += data.count
            add([UInt8](data), number, to: &segments)
        }
        count += segments.count
    }

    private mutating func add(_ bytes: [UInt8], _ segment: UInt64, to segments: inout [[UInt8]: UInt64]) {
        guard bytes.count >= Self.segmentHead else { return }
        var fields = Fields(bytes: bytes, position: 40)
        // What is dropped before a segment.
        if let first = fields.number(4) { segments = segments.filter { $0.value >= first } }
        fields.position = 76
        fields.position = Self.segmentHead + (fields.number(4) ?? 0)
        // The last record may be half written.
        while let record = fields.record() {
            switch record.kind {
            case 1:
                segments[record.key] = segment
                largestByteCount = max(largestByteCount, record.byteCount)
            case 2, 6: segments[record.key] = nil
            case 3: segments = segments.filter { $0.value >= record.serial }
            default: break
            }
        }
    }

    private static let segmentHead = 80

    /// Reads records by the description of the format alone.
    private struct Fields {
        let bytes: [UInt8]
        var position: Int

        /// A number of so many bytes; `nil` if they are not there.
        mutating func number(_ byteCount: Int) -> Int? {
            guard position + byteCount <= bytes.count else { return nil }
            defer { position += byteCount }
            return bytes[position..<(position + byteCount)].reduce(0) { $0 << 8 | Int($1) }
        }

        /// A number of variable length.
        private mutating func length() -> Int? {
            var (value, shift) = (0, 0)
            while let byte = number(1), shift < 35 {
                value |= (byte & 127) << shift
                if byte < 128 { return value }
                shift += 7
            }
            return nil
        }

        mutating func record() -> (kind: Int, key: [UInt8], serial: UInt64, byteCount: Int)? {
            let start = position
            guard number(2) == 0xF532, number(4) != nil, let flags = number(1), number(9) != nil,
                let keyByteCount = length()
            else { return nil }
            let kind = flags & 7
            var (payload, attributes, serial) = (0, 0, 0)
            if kind == 1 || kind == 6 {
                guard number(4) != nil, let first = number(1), number(first == 255 ? 8 : 4) != nil,
                    let length = length(), self.length() != nil
                else { return nil }
                payload = length
                if flags & 16 != 0, number(8) == nil { return nil }
                if flags & 32 != 0 {
                    guard let length = self.length() else { return nil }
                    attributes = length
                }
            }
            if flags & 64 != 0 {
                guard let high = length(), let low = length() else { return nil }
                serial = high << 32 | low
            }
            let end = position + keyByteCount
            guard end + attributes + payload <= bytes.count else { return nil }
            let key = Array(bytes[position..<end])
            position = end + attributes + payload
            return (kind, key, UInt64(truncatingIfNeeded: serial), position - start)
        }
    }
}
