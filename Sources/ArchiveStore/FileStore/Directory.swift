#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// An open directory. Every name is looked up in it, one component, never through a symbolic link.
///
/// It is the directory that was opened, wherever it is moved, even after it was removed.
final class Directory: Sendable {
    let file: OpenFile
    let identity: FileIdentity
    private let reservation: DescriptorReservation?

    private init(_ file: consuming OpenFile, reservation: DescriptorReservation?) throws(SystemError) {
        identity = try file.status().identity
        self.file = file
        self.reservation = reservation
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    /// Opens the directory at `path`, whose last component must not be a link.
    convenience init(path: String) throws(SystemError) {
        let descriptor = try SystemError.checking { open(path, Self.flags) }
        try self.init(OpenFile(descriptor: descriptor), reservation: nil)
    }

    /// Opens the directory `name` in this one.
    func directory(_ name: String, reservation: DescriptorReservation? = nil) throws(SystemError) -> Directory {
        let descriptor = try SystemError.checking { openat(file.descriptor, name, Self.flags) }
        return try Directory(OpenFile(descriptor: descriptor), reservation: reservation)
    }

    /// Makes the directory `name`, `0700`, unless something has that name.
    func makeDirectory(_ name: String) throws(SystemError) {
        do {
            _ = try SystemError.checking { mkdirat(file.descriptor, name, 0o700) }
        } catch {
            if error.number != EEXIST { throw error }
        }
    }

    /// Opens the file `name` for reading. Never waits, whatever kind of file it is.
    func file(_ name: String) throws(SystemError) -> OpenFile {
        let flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        return OpenFile(descriptor: try SystemError.checking { openat(file.descriptor, name, flags) })
    }

    /// Makes the file `name`, `0600`, and opens it for writing; throws `EEXIST` if something has that name.
    func makeFile(_ name: String) throws(SystemError) -> OpenFile {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        return OpenFile(descriptor: try SystemError.checking { openat(file.descriptor, name, flags, 0o600) })
    }

    /// The status of `name` itself, not of what it may link to; `nil` if nothing has that name.
    func status(_ name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        do {
            _ = try SystemError.checking { fstatat(file.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
        } catch {
            if error.number == ENOENT { return nil }
            throw error
        }
        return FileStatus(status)
    }

    /// Gives the file `name` the name `newName` in `target`, in place of what had it, in one step.
    func rename(_ name: String, to newName: String, in target: Directory) throws(SystemError) {
        _ = try SystemError.checking { renameat(file.descriptor, name, target.file.descriptor, newName) }
    }

    /// Removes the name `name` of a file, a link or an empty directory; says whether anything had it.
    @discardableResult
    func remove(_ name: String) throws(SystemError) -> Bool {
        do {
            _ = try SystemError.checking { unlinkat(file.descriptor, name, 0) }
            return true
        } catch {
            switch error.number {
            case ENOENT: return false
            case EISDIR, EPERM: break
            default: throw error
            }
        }
        _ = try SystemError.checking { unlinkat(file.descriptor, name, AT_REMOVEDIR) }
        return true
    }

    /// Gives each name but `.` and `..` to `body`, until it returns `false`.
    func forEachName(_ body: (String) -> Bool) throws(SystemError) {
        // Opened again, since the position in the listing belongs to the open directory.
        let descriptor = try SystemError.checking { openat(file.descriptor, ".", Self.flags) }
        guard let stream = fdopendir(descriptor) else {
            let error = SystemError.last
            close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw .last }
                return
            }
            // Read in place: the system gives no more of the record than the name takes.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
            }
            guard name == "." || name == ".." || body(name) else { return }
        }
    }

    /// Waits for this directory's advisory lock.
    ///
    /// The lock belongs to the open directory: it shuts out every other one of the same directory, in any
    /// process, but not other users of this one.
    func lock() throws(SystemError) {
        try file.lock(waits: true)
    }

    /// Gives the lock back.
    func unlock() {
        file.unlock()
    }

    /// Makes the directory `path`, and those above it that are missing, `0700`.
    static func make(path: String) throws(SystemError) {
        do {
            _ = try SystemError.checking { mkdir(path, 0o700) }
        } catch {
            if error.number == EEXIST { return }
            guard error.number == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
                throw error
            }
            try make(path: String(path[..<slash]))
            _ = try SystemError.checking { mkdir(path, 0o700) }
        }
    }
}
