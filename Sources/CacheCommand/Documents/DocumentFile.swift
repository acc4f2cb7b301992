import Foundation
import KeyedArchive
import TypedCache

/// Files as documents: read whole, and replaced whole.
enum DocumentFile {
    /// The longest file that is read, in bytes.
    private static let byteLimit = 1 << 30

    /// Reads a file, or standard input for `-`.
    ///
    /// - Throws: `.unreadable`; `.source` and `.interrupted` for standard input.
    static func read(_ path: String, in environment: CommandEnvironment) throws -> Data {
        if path == "-" { return try readStandardInput(environment) }
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure.unreadable(path: path, errno: systemNumber(of: error, at: path))
        }
    }

    /// Reads a file and opens the document in it, be it an entry of a cache with a file for each.
    ///
    /// - Throws: as ``read(_:in:)``; `.unreadableDocument`; the cache's error for a damaged entry.
    static func open(
        _ path: String,
        in environment: CommandEnvironment,
        for purpose: DocumentFormats.Purpose
    ) throws -> any Document {
        let bytes = try read(path, in: environment)
        return try open(CacheEntryFile.archive(in: bytes, path: path) ?? bytes, path, for: purpose)
    }

    private static func open(
        _ bytes: Data,
        _ path: String,
        for purpose: DocumentFormats.Purpose
    ) throws(CommandFailure) -> any Document {
        do throws(DocumentFault) {
            guard let document = try DocumentFormats.open(bytes, for: purpose) else {
                throw DocumentFault.unknownFormat
            }
            return document
        } catch {
            throw .unreadableDocument(path: path, error)
        }
    }

    private static func readStandardInput(_ environment: CommandEnvironment) throws(CommandFailure) -> Data {
        let interruption = environment.trapSignals()
        do throws(SourceError) {
            var input = try environment.openInput(.standardInput, interruption)
            var bytes = Data()
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = try buffer.withUnsafeMutableBytes { buffer in
                    Result { () throws(SourceError) in try input.read(into: buffer) }
                }.get()
                guard count > 0, bytes.count <= byteLimit else { return bytes }
                bytes.append(contentsOf: buffer[..<count])
            }
        } catch {
            throw CommandFailure(standardInput: error, interruption)
        }
    }

    /// Puts a file in the place of the one that is there, if any: whole, or not at all.
    ///
    /// A link stays, and the file that it leads to is replaced; the new file has its access mode.
    ///
    /// Implementation: a draft in the same directory, `fsync`, `rename`. Signals wait until the draft is gone.
    ///
    /// - Throws: `.unwritable`.
    static func replace(_ path: String, with bytes: [UInt8]) throws(CommandFailure) {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let draft = (target as NSString).deletingLastPathComponent + "/.typed-cache-draft-\(UUID().uuidString)"
        var status = stat()
        let mode = stat(target, &status) == 0 ? status.st_mode & 0o777 : 0o644
        let former = SignalTrap.block([SIGINT, SIGTERM, SIGHUP])
        defer { SignalTrap.restore(former) }
        let file = Foundation.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw .unwritable(path: path, errno: errno) }
        // It closes the file at the end of its life.
        let appended = AppendedFile(file, path: path)
        defer { withExtendedLifetime(appended) {} }
        do throws(CommandFailure) {
            try appended.append(bytes)
            guard fchmod(file, mode) == 0 || errno == EPERM, fsync(file) == 0, rename(draft, target) == 0 else {
                throw .unwritable(path: path, errno: errno)
            }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// The system's error number behind Foundation's error of reading a file.
    private static func systemNumber(of error: any Error, at path: String) -> Int32 {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        for error in [underlying, error].compactMap({ $0 }) where error.domain == NSPOSIXErrorDomain {
            return Int32(truncatingIfNeeded: error.code)
        }
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: return ENOENT
        case .fileReadNoPermission: return EACCES
        default:
            // Foundation has no code for a directory, nor for a path through a file.
            var status = stat()
            guard stat(path, &status) == 0 else { return errno }
            return status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EIO
        }
    }
}
