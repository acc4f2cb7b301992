import CFiles
import Foundation

/// A directory of plain files. Each name is one component and is looked up in the open directory, never through a
/// link; a file that exists is never replaced.
final class ExchangeFolder: Sendable {
    let path: String
    private let descriptor: Int32

    /// The name of a file that is not yet whole.
    private static let draftName = ".typed-cache-draft"

    /// Opens a directory.
    ///
    /// - Parameter creating: whether a missing directory is made, for its user alone.
    init(path: String, creating: Bool) throws(CommandFailure) {
        self.path = path
        if creating, mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .unwritable(path: path, errno: errno)
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .unreadable(path: path, errno: errno) }
    }

    deinit { close(descriptor) }

    /// Keeps other exports out of the directory for the life of this object.
    ///
    /// Implementation: `flock`. A file system without locks keeps none out.
    ///
    /// - Throws: `.exportUnderWay`.
    func lock() throws(CommandFailure) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw .exportUnderWay(path: path)
        }
    }

    /// The path of a file in it, for messages.
    func path(of name: String) -> String { path + (path.hasSuffix("/") ? "" : "/") + name }

    /// Gives each name but `.` and `..` to `body`, in no particular order, until `body` returns `false`.
    ///
    /// - Parameter body: gets also whether the name is UTF-8. Another name comes with its bytes repaired, and finds no file.
    func forEachName(_ body: (_ name: String, _ isText: Bool) throws -> Bool) throws {
        // Opened again, since the position in a listing belongs to the open directory.
        let again = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard again >= 0, let stream = fdopendir(again) else {
            throw CommandFailure.unreadable(path: path, errno: errno)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
            // Read in place: the system gives no more of the record than the name takes.
            let (name, isText) = withUnsafePointer(to: &entry.pointee.d_name) { field in
                let bytes = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
                return (String(cString: bytes), String(validatingCString: bytes) != nil)
            }
            if name != ".", name != "..", try !body(name, isText) { return }
        }
        if errno != 0 { throw CommandFailure.unreadable(path: path, errno: errno) }
    }

    func isEmpty() throws -> Bool {
        var isEmpty = true
        try forEachName { _, _ in
            isEmpty = false
            return false
        }
        return isEmpty
    }

    /// Whether a file of any kind has this name, even a link to nothing.
    func contains(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT
    }

    /// Removes a regular file; anything else of that name stays.
    func removeFile(_ name: String) throws(CommandFailure) {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
        else {
            return
        }
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw .unwritable(path: path(of: name), errno: errno)
        }
    }

    // MARK: Reading

    /// Opens a regular file for reading and tells its length. The caller closes it.
    func openFile(_ name: String) throws(FileFault) -> (descriptor: Int32, byteCount: Int) {
        let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw [ELOOP, EMLINK, ENXIO, EOPNOTSUPP].contains(errno) ? .irregular : .system(errno)
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw .irregular
        }
        return (file, Int(status.st_size))
    }

    /// All bytes of a regular file.
    ///
    /// - Parameter limit: how many there may be at most.
    func read(_ name: String, limit: Int) throws(FileFault) -> [UInt8] {
        let (file, size) = try openFile(name)
        defer { close(file) }
        guard size <= limit else { throw .tooLarge(limit: limit) }
        var bytes = [UInt8](repeating: 0, count: size)
        var count = 0
        while count < bytes.count {
            let read = bytes.withUnsafeMutableBytes {
                Foundation.read(file, $0.baseAddress?.advanced(by: count), $0.count - count)
            }
            guard read >= 0 || errno == EINTR else { throw .system(errno) }
            // The file has become shorter: parsing shows the missing bytes.
            if read == 0 { break }
            count += max(0, read)
        }
        return count == bytes.count ? bytes : Array(bytes[..<count])
    }

    // MARK: Writing

    /// Waits until the device has all files that were written.
    ///
    /// Implementation: `syncfs`, one wait in place of an `fsync` for each of many files; `sync` elsewhere than on Linux,
    /// which may return before the device has them.
    ///
    /// - Throws: `.unwritable`.
    func flush() throws(CommandFailure) {
        guard sync_file_system(descriptor) == 0 else { throw .unwritable(path: path, errno: errno) }
    }

    /// Writes a file of that name, `0600`, which is whole or not there whenever this process ends.
    ///
    /// - Returns: the file, to which more can be appended.
    /// - Throws: `.unwritable`, with `EEXIST` if the name is taken.
    @discardableResult
    func write(_ bytes: [UInt8], as name: String) throws(CommandFailure) -> AppendedFile {
        let file = try beginFile(name)
        do throws(CommandFailure) {
            try file.append(bytes)
            try endFile(name)
        } catch {
            giveUpFile()
            throw error
        }
        return file
    }

    /// Begins a file, `0600`, that has its name only after ``endFile(_:)``: one at a time.
    func beginFile(_ name: String) throws(CommandFailure) -> AppendedFile {
        // Left by an export that was killed.
        try removeFile(Self.draftName)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC
        let draft = openat(descriptor, Self.draftName, flags, 0o600)
        guard draft >= 0 else { throw .unwritable(path: path(of: Self.draftName), errno: errno) }
        return AppendedFile(draft, path: path(of: name))
    }

    /// Removes the draft of the file that was begun.
    func giveUpFile() { unlinkat(descriptor, Self.draftName, 0) }

    /// Gives the file that was begun its name.
    ///
    /// Implementation: `linkat` and `unlinkat`, since a rename would replace a file that has the name already.
    ///
    /// - Throws: `.unwritable`, with `EEXIST` if the name is taken.
    func endFile(_ name: String) throws(CommandFailure) {
        if linkat(descriptor, Self.draftName, descriptor, name, 0) == 0 {
            unlinkat(descriptor, Self.draftName, 0)
            return
        }
        // Some file systems have no hard links.
        guard [EPERM, EOPNOTSUPP, ENOTSUP, ENOSYS].contains(errno) else {
            throw .unwritable(path: path(of: name), errno: errno)
        }
        try renameDraft(to: name)
    }

    /// Gives the file that was begun its name without a hard link.
    ///
    /// Implementation: an empty file claims the name first (`O_EXCL`), so that the rename replaces no file of another
    /// process. A process that is killed between the two leaves the empty file.
    ///
    /// - Throws: `.unwritable`, with `EEXIST` if the name is taken.
    func renameDraft(to name: String) throws(CommandFailure) {
        let claim = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard claim >= 0 else { throw .unwritable(path: path(of: name), errno: errno) }
        close(claim)
        guard renameat(descriptor, Self.draftName, descriptor, name) == 0 else {
            let number = errno
            unlinkat(descriptor, name, 0)
            throw .unwritable(path: path(of: name), errno: number)
        }
    }
}

/// An open file that grows.
final class AppendedFile {
    private let descriptor: Int32
    private let path: String

    /// - Parameter path: for messages.
    init(_ descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// - Parameter interruption: ends the writing, where that waits for a reader.
    func append(_ bytes: [UInt8], until interruption: (any Interruption)? = nil) throws(CommandFailure) {
        var written = 0
        while written < bytes.count {
            if let signal = interruption?.signal { throw .interrupted(signal: signal) }
            let count = bytes.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress?.advanced(by: written), $0.count - written)
            }
            guard count >= 0 || errno == EINTR else { throw .unwritable(path: path, errno: errno) }
            written += max(0, count)
        }
    }

    /// Waits until the device has the bytes.
    ///
    /// - Throws: `.unwritable`.
    func flush() throws(CommandFailure) {
        #if canImport(Darwin)
            // `fsync` leaves them in the device's own memory there; not every file system knows more.
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        guard fsync(descriptor) == 0 else { throw .unwritable(path: path, errno: errno) }
    }
}

/// Why a file in a directory cannot be read as one.
enum FileFault: Error, Sendable, Equatable {
    case system(Int32)
    /// A link, a directory, a pipe, or the like; it is not followed nor read.
    case irregular
    case tooLarge(limit: Int)

    /// To follow the file's name.
    var phrase: String {
        switch self {
        case .system(let number): "cannot be read: \(SystemMessage(number))"
        case .irregular: "is not a regular file"
        case .tooLarge(let limit): "is larger than \(ByteText(limit))"
        }
    }
}
