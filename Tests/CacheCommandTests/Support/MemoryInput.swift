@testable import CacheCommand

/// Bytes in memory, handed out in pieces of a given size.
struct MemoryInput: ByteInput {
    private let bytes: [UInt8]
    private let pieceSize: Int
    private var position = 0

    init(_ bytes: [UInt8], pieceSize: Int = .max) {
        precondition(pieceSize > 0, "a piece has at least one byte")
        self.bytes = bytes
        self.pieceSize = pieceSize
    }

    var size: Int? { bytes.count }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, pieceSize, bytes.count - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }
}
