import CZlib

/// A zlib inflate stream that is reset, not rebuilt, between inputs.
///
/// Unsafe code, and why it is sound: as in `DeflateStream`. zlib itself bounds every access by `avail_in` and
/// `avail_out`, which are the buffers' counts, for every input.
///
/// `@unchecked Sendable`: the guard is `StreamPool`, which lends a stream to one caller at a time.
final class InflateStream: @unchecked Sendable {
    private let stream: UnsafeMutablePointer<z_stream>

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = inflateInit_(stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        precondition(status == Z_OK, "zlib could not set an inflate stream up (\(status))")
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// The most bytes of a piece.
    private static let pieceByteCount = 1 << 18

    /// Inflates `input` and gives its content to `body` in pieces, until that returns `false`.
    ///
    /// - Parameter dictionary: the preset dictionary, for a stream that asks for one.
    /// - Returns: whether all of `input` is one zlib stream that holds exactly `byteCount` bytes, or `body` ended this.
    /// - Precondition: `input` is at most `UInt32.max` bytes.
    func inflate(
        _ input: UnsafeRawBufferPointer,
        dictionary: [UInt8]?,
        expecting byteCount: Int,
        pieces body: ([UInt8]) -> Bool
    ) -> Bool {
        inflateReset(stream)
        // Sound: both pointers are cleared before the buffers that they point to are gone, that of the output after
        // each call.
        let start = input.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.next_in = UnsafeMutablePointer<UInt8>(mutating: start)
        stream.pointee.avail_in = UInt32(input.count)
        defer { stream.pointee.next_in = nil }
        var rest = byteCount
        while true {
            let (piece, status) = nextPiece(dictionary)
            rest -= piece.count
            guard rest >= 0, status == Z_OK || status == Z_STREAM_END else { return false }
            if !piece.isEmpty, !body(piece) { return true }
            if status == Z_STREAM_END { return rest == 0 && stream.pointee.avail_in == 0 }
            // The input has ended before its stream.
            if piece.isEmpty { return false }
        }
    }

    private func nextPiece(_ dictionary: [UInt8]?) -> ([UInt8], status: Int32) {
        var status = Z_OK
        let piece = [UInt8](unsafeUninitializedCapacity: Self.pieceByteCount) { buffer, count in
            stream.pointee.next_out = buffer.baseAddress
            stream.pointee.avail_out = UInt32(buffer.count)
            status = CZlib.inflate(stream, Z_NO_FLUSH)
            if status == Z_NEED_DICT, let dictionary,
                inflateSetDictionary(stream, dictionary, UInt32(dictionary.count)) == Z_OK
            {
                status = CZlib.inflate(stream, Z_NO_FLUSH)
            }
            count = buffer.count - Int(stream.pointee.avail_out)
            stream.pointee.next_out = nil
        }
        return (piece, status)
    }
}
