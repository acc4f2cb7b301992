import ArchiveStore
import Foundation

extension DocumentFile {
    /// Writes to a file, or to standard output for `-`.
    ///
    /// A regular file is replaced: whole, or not at all. A device or pipe is written to, and stays. If the
    /// path is another name of standard output, such as `/dev/stdout`, the bytes follow the output so far.
    ///
    /// - Throws: `.unwritable`, `.interrupted`; `OutputError` for standard output.
    static func write(
        _ bytes: [UInt8],
        to path: String,
        in environment: CommandEnvironment,
        until interruption: any Interruption
    ) throws {
        if let signal = interruption.signal { throw CommandFailure.interrupted(signal: signal) }
        if path == "-" || isStandardOutput(path) {
            try environment.output.write(bytes: bytes)
        } else if isStream(path) {
            try send(bytes, to: path, until: interruption)
        } else {
            try replace(path, with: bytes)
        }
    }

    /// Whether a file is a device, a pipe or a socket, which a regular file must not take the place of.
    static func isStream(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    /// Whether a file ends as a cache's entry does, which would be lost with it; not if there is none that can be read.
    static func isEntry(_ path: String) -> Bool {
        if isStream(path) { return false }
        let file = Foundation.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        var tail = [UInt8](repeating: 0, count: 64)
        guard fstat(file, &status) == 0 else { return false }
        let count = pread(file, &tail, tail.count, max(0, status.st_size - off_t(tail.count)))
        return EntryFile.isEntry(Array(tail.prefix(max(0, count))))
    }

    private static func isStandardOutput(_ path: String) -> Bool {
        var (target, output) = (stat(), stat())
        return stat(path, &target) == 0 && fstat(STDOUT_FILENO, &output) == 0 && target.st_dev == output.st_dev
            && target.st_ino == output.st_ino
    }

    /// Writes to a device or pipe. A pipe without a reader is waited for, as shells do.
    private static func send(
        _ bytes: [UInt8],
        to path: String,
        until interruption: any Interruption
    ) throws(CommandFailure) {
        let file = interruption.openWaiting(path, O_WRONLY)
        guard file >= 0 else {
            let number = errno
            throw interruption.signal.map { .interrupted(signal: $0) } ?? .unwritable(path: path, errno: number)
        }
        try AppendedFile(file, path: path).append(bytes, until: interruption)
    }

    /// Puts a file in the place of the one that is there, if any: whole, or not at all.
    ///
    /// A link stays, and the file that it leads to is replaced or made; the new file has the former one's access mode, and
    /// its owner where root replaces it.
    ///
    /// Implementation: a draft in the same directory, `fsync`, `rename`. Signals wait until the draft is gone.
    ///
    /// - Throws: `.unwritable`.
    static func replace(_ path: String, with bytes: [UInt8]) throws(CommandFailure) {
        let target = try target(of: path)
        let draft = directory(of: target) + ".typed-cache-draft-\(UUID().uuidString)"
        var status = stat()
        let isThere = stat(target, &status) == 0
        let mode = isThere ? status.st_mode & 0o777 : 0o644
        let former = SignalTrap.block([SIGINT, SIGTERM, SIGHUP])
        defer { SignalTrap.restore(former) }
        let file = Foundation.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw .unwritable(path: path, errno: errno) }
        // It closes the file at the end of its life.
        let appended = AppendedFile(file, path: path)
        defer { withExtendedLifetime(appended) {} }
        do throws(CommandFailure) {
            try appended.append(bytes)
            let keepsOwner = !isThere || geteuid() != 0 || fchown(file, status.st_uid, status.st_gid) == 0
            guard keepsOwner, fchmod(file, mode) == 0 || errno == EPERM, fsync(file) == 0,
                rename(draft, target) == 0
            else {
                throw .unwritable(path: path, errno: errno)
            }
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// The file that a path leads to by way of links, also where there is none yet.
    private static func target(of path: String) throws(CommandFailure) -> String {
        var target = path
        // The system follows as many links.
        for _ in 0..<40 {
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(target, &bytes, bytes.count)
            // No link, or nothing.
            if count < 0 { return target }
            guard let next = String(validating: bytes[..<count].lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
            else {
                throw .unwritable(path: path, errno: EILSEQ)
            }
            target = next.utf8.first == UInt8(ascii: "/") ? next : directory(of: target) + next
        }
        throw .unwritable(path: path, errno: ELOOP)
    }

    /// The directory of a path, with its slash; empty for that of the process.
    private static func directory(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
    }
}
