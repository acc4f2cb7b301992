import CSystemZlib
import Foundation

/// Reads recorded traces: one zlib stream of little-endian `UInt32` key numbers, one per request.
public enum TraceFile {
    /// The path extension of such files.
    public static let pathExtension = "u32z"

    /// - Throws: ``TraceError`` if the file is no such stream, and the errors of reading a file.
    public static func read(_ file: URL) throws -> Trace {
        let name = file.deletingPathExtension().lastPathComponent
        return Trace(name: name, requests: try requests(in: Data(contentsOf: file)))
    }

    /// - Throws: ``TraceError``.
    public static func requests(in compressed: Data) throws(TraceError) -> [UInt32] {
        let bytes = try inflate([UInt8](compressed))
        guard bytes.count.isMultiple(of: MemoryLayout<UInt32>.size) else { throw .partialNumber }
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: MemoryLayout<UInt32>.size).map {
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self))
            }
        }
    }

    /// The length is in no header, so the output grows until the stream ends in it.
    private static func inflate(_ input: [UInt8]) throws(TraceError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: max(64, input.count * 4))
        while true {
            var count = UInt(output.count)
            switch uncompress(&output, &count, input, UInt(input.count)) {
            case Z_OK: return Array(output.prefix(Int(count)))
            case Z_BUF_ERROR where output.count < maximumByteCount:
                output = [UInt8](repeating: 0, count: output.count * 4)
            default: throw .damagedStream
            }
        }
    }

    private static let maximumByteCount = 1 << 30
}

/// Why a file is no trace.
public enum TraceError: Error {
    /// It is not a whole zlib stream, or one of more than 1 GiB.
    case damagedStream
    /// Its bytes are no whole number of key numbers.
    case partialNumber
}
