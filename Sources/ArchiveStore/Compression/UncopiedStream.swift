/// A zlib stream of stored blocks that does not copy its archive before it is written; see `StoredBlocks`.
///
/// A copy of 4 MiB in new memory takes two to three times as long as writing it to a file does, for the system has to
/// give the memory page by page.
struct UncopiedStream: Sendable {
    /// The shortest archive in bytes that is worth this: for shorter ones, a stream with a copy is made as fast.
    static let leastArchive = CompressionProbe.leastInput

    /// The most bytes of a piece, give or take a block's head: it is still in the processor's cache when it is written.
    private static let pieceByteCount = 4 * StoredBlocks.largestBlock

    let archive: [UInt8]
    /// The CRC-32 of the whole stream.
    let checksum: UInt32
    /// The Adler-32 of the archive, which ends the stream.
    private let trailer: [UInt8]

    var byteCount: Int { StoredBlocks.byteCount(for: archive.count) }

    /// - Complexity: O(*n*) in the archive: its checksums are calculated.
    init(_ archive: [UInt8]) {
        self.archive = archive
        var adler: UInt32 = 1
        var checksum = Self.checksum(StoredBlocks.header)
        archive.withUnsafeBytes { archive in
            for range in StoredBlocks.blocks(of: archive.count) {
                let head = StoredBlocks.head(byteCount: range.count, isLast: range.upperBound == archive.count)
                let block = UnsafeRawBufferPointer(rebasing: archive[range])
                adler = Zlib.adler32(block, continuing: adler)
                checksum = Zlib.crc32(block, continuing: Self.checksum(head, continuing: checksum))
            }
        }
        var trailer: [UInt8] = []
        trailer.append(bigEndian: adler)
        self.trailer = trailer
        self.checksum = Self.checksum(trailer, continuing: checksum)
    }

    private static func checksum(_ bytes: [UInt8], continuing checksum: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { Zlib.crc32($0, continuing: checksum) }
    }

    /// Gives the stream in pieces, one after another.
    ///
    /// - Parameters:
    ///   - start: comes before it, in the first piece.
    ///   - end: comes after it, in the last piece.
    func forEachPiece<Failure>(
        after start: [UInt8],
        before end: [UInt8],
        _ body: ([UInt8]) throws(Failure) -> Void
    ) throws(Failure) {
        var piece = start + StoredBlocks.header
        for range in StoredBlocks.blocks(of: archive.count) {
            piece += StoredBlocks.head(byteCount: range.count, isLast: range.upperBound == archive.count)
            piece += archive[range]
            if piece.count >= Self.pieceByteCount {
                try body(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        piece += trailer
        piece += end
        try body(piece)
    }
}
