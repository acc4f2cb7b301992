import Foundation
import KeyedArchive
import TypedCache

/// Files as documents: read whole, and written whole.
enum DocumentFile {
    /// The longest file that is read, in bytes.
    private static let byteLimit = 1 << 30

    /// Reads a file, a pipe or the like, or standard input for `-`.
    ///
    /// - Throws: `.unreadable`; `.source` for standard input; `.interrupted`.
    static func read(
        _ path: String,
        in environment: CommandEnvironment,
        until interruption: any Interruption
    ) throws(CommandFailure) -> Data {
        let location = SourceLocation(path)
        do throws(SourceError) {
            var input = try environment.openInput(location, interruption)
            var bytes = Data()
            bytes.reserveCapacity(min(input.size ?? 0, byteLimit))
            var buffer = [UInt8](repeating: 0, count: 256 << 10)
            while true {
                let count = try buffer.withUnsafeMutableBytes { buffer in
                    Result { () throws(SourceError) in try input.read(into: buffer) }
                }.get()
                guard count > 0 else { return bytes }
                guard bytes.count + count <= byteLimit else { throw .cannotRead(errno: EFBIG) }
                bytes.append(contentsOf: buffer[..<count])
            }
        } catch {
            switch (location, error) {
            case (.file, .cannotOpen(let number)), (.file, .cannotRead(let number)):
                throw .unreadable(path: path, errno: number)
            default: throw CommandFailure(error, of: location, interruption)
            }
        }
    }

    /// Reads a file and opens the document in it, be it an entry of a cache with a file for each.
    ///
    /// - Throws: as ``read(_:in:until:)``; `.unreadableDocument`; the cache's error for a damaged entry.
    static func open(
        _ path: String,
        in environment: CommandEnvironment,
        until interruption: any Interruption,
        for purpose: DocumentFormats.Purpose
    ) throws -> any Document {
        let bytes = try read(path, in: environment, until: interruption)
        return try open(CacheEntryFile.archive(in: bytes, path: path) ?? bytes, path, for: purpose)
    }

    private static func open(
        _ bytes: Data,
        _ path: String,
        for purpose: DocumentFormats.Purpose
    ) throws(CommandFailure) -> any Document {
        do throws(DocumentFault) {
            guard let document = try DocumentFormats.open(bytes, for: purpose) else {
                throw bytes.isEmpty ? DocumentFault.empty : .unknownFormat
            }
            return document
        } catch {
            throw .unreadableDocument(path: path, error)
        }
    }
}
