import Sealing

/// What can be read of a segment of an encrypted store without its key, for tools.
package struct VisibleSegment: Sendable, Equatable {
    /// Of its file.
    package let name: String
    package let byteCount: Int
    /// The identifier of its key; `nil` if its header is damaged.
    package let key: UInt64?
    /// About how many records it has. A record begins with two known bytes, which other bytes may equal by chance.
    package let recordCount: Int
}

/// What can be read of a store's files without a key, for tools.
package struct VisibleFiles: Sendable, Equatable {
    /// The segments, in their order; none where nothing is encrypted, or not by segments.
    package var segments: [VisibleSegment] = []
    /// The number and bytes of all files.
    package var fileCount = 0
    package var byteCount = 0

    /// A store of nothing.
    package init() {}

    /// Looks at the files of a store, and changes nothing. Blocks on disk I/O.
    package init(inDirectory path: String) throws(StoreError) {
        (fileCount, byteCount) = StoreFiles.total(inDirectory: path)
        segments = try attempt("looking at a store", path) { () throws(SystemError) in
            let root = try Directory(path: path, layer: FileLayer())
            var numbers: [UInt32] = []
            try root.forEachName { name in
                if let number = Segment.number(name) { numbers.append(number) }
                return true
            }
            var segments: [VisibleSegment] = []
            for number in numbers.sorted() {
                if let segment = try Self.segment(number, in: root) { segments.append(segment) }
            }
            return segments
        }
    }

    /// - Returns: `nil` if it is not encrypted, or is gone.
    private static func segment(_ number: UInt32, in root: Directory) throws(SystemError) -> VisibleSegment? {
        let name = Segment.fileName(number)
        let file: OpenFile
        do throws(SystemError) {
            file = try root.file(name)
        } catch {
            if error.isMissing || error.isSymbolicLink { return nil }
            throw error
        }
        let status = try file.status()
        guard status.isRegular else { return nil }
        var key: UInt64?
        let start = try file.read(SegmentHeader.largestByteCount, at: 0)
        if let header = try? SegmentHeader.Visible(start, number: number) {
            guard header.version == SegmentHeader.sealedVersion else { return nil }
            key = header.fields.key
        }
        return VisibleSegment(
            name: name,
            byteCount: status.byteCount,
            key: key,
            recordCount: try recordCount(of: file, byteCount: status.byteCount)
        )
    }

    private static let windowByteCount = 1 << 20

    /// Counts the places that look like the start of a record: the magic, a nonce whose last bit is 0, and a length that a head can have.
    private static func recordCount(of file: borrowing OpenFile, byteCount: Int) throws(SystemError) -> Int {
        var count = 0
        var offset = 0
        while offset < byteCount {
            let window = try file.read(windowByteCount, at: offset)
            guard window.count >= RecordSealing.startByteCount else { break }
            window.withUnsafeBytes { bytes in
                var start = 0
                while let candidate = Record.candidate(in: bytes, from: start),
                    candidate <= bytes.count - RecordSealing.startByteCount
                {
                    start = candidate + 1
                    let length = ByteReader(bytes).number(
                        at: candidate + RecordSealing.lengthOffset,
                        as: UInt16.self
                    )
                    let lastOfNonce = bytes[candidate + RecordSealing.lengthOffset - 1]
                    if lastOfNonce & 1 == 0, length > 0, length <= Record.largestHeadByteCount { count += 1 }
                }
            }
            // A start may lie across the end of a window.
            offset += window.count - RecordSealing.startByteCount + 1
        }
        return count
    }
}
