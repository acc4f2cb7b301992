/// Bytes on their way to a file: in one piece, or around an archive that is not copied before it is written.
struct FileContent: Sendable {
    /// All bytes, or those before the stream.
    var start: [UInt8]
    private let stream: UncopiedStream?
    /// The bytes after the stream.
    private let end: [UInt8]

    /// Bytes in one piece.
    init(_ bytes: [UInt8]) {
        start = bytes
        stream = nil
        end = []
    }

    init(start: [UInt8] = [], _ stream: UncopiedStream, end: [UInt8] = []) {
        self.start = start
        self.stream = stream
        self.end = end
    }

    /// All bytes in one piece.
    var joined: [UInt8] {
        if stream == nil { return start }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        forEachPiece { bytes += $0 }
        return bytes
    }

    var count: Int { start.count + (stream?.byteCount ?? 0) + end.count }

    /// The last bytes: all that come after an archive.
    var tail: [UInt8] { stream == nil ? start : end }

    /// Gives all bytes in pieces, one after another.
    func forEachPiece<Failure>(_ body: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
        guard let stream else { return try body(start) }
        try stream.forEachPiece(after: start, before: end, body)
    }
}
