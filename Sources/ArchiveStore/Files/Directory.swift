import Foundation
import Synchronization

/// An open directory. Every name is looked up in it, one component, never through a symbolic link.
///
/// It is the directory that was opened, wherever it is moved, even after it was removed.
final class Directory: Sendable {
    let file: OpenFile
    let identity: FileIdentity
    private let reservation: DescriptorReservation?
    /// The owner that new files and directories get: the directory's, where the process is root's and the directory
    /// another user's, because that user would be locked out otherwise.
    private let newOwner: FileOwner?
    /// How many names were changed through this.
    private let changeCount = Atomic<Int>(0)
    private let synchronizedChangeCount = Atomic<Int>(0)
    /// Whether its own name is known to be on the device; kept here for the shard that opened it.
    let isNameSynchronized = Atomic<Bool>(false)

    var layer: FileLayer { file.layer }
    private var name: String { file.name }
    /// Whether it was opened to stay open: there are descriptors enough.
    var isKeptOpen: Bool { reservation != nil }

    private init(_ file: consuming OpenFile, reservation: DescriptorReservation?) throws(SystemError) {
        let status = try file.status()
        identity = status.identity
        newOwner = geteuid() == 0 && status.owner.user != 0 ? status.owner : nil
        self.file = file
        self.reservation = reservation
    }

    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    /// Opens the directory at `path`. The last component of the path must not be a link.
    convenience init(path: String, layer: FileLayer) throws(SystemError) {
        let descriptor = try layer.call(.open(in: nil, flags: Self.flags), path) { open(path, Self.flags) }
        try self.init(OpenFile(descriptor: descriptor, name: path, layer: layer), reservation: nil)
    }

    /// Opens the directory `name` in this one.
    func directory(_ name: String, reservation: DescriptorReservation? = nil) throws(SystemError) -> Directory {
        try Directory(openFile(name, Self.flags), reservation: reservation)
    }

    func openFile(_ name: String, _ flags: Int32) throws(SystemError) -> OpenFile {
        let descriptor = try layer.call(.open(in: file.descriptor, flags: flags), name) {
            openat(file.descriptor, name, flags)
        }
        return OpenFile(descriptor: descriptor, name: name, layer: layer)
    }

    /// Makes the directory `name`, `0700`, unless something has that name.
    func makeDirectory(_ name: String) throws(SystemError) {
        do {
            _ = try layer.call(.makeDirectory(in: file.descriptor), name) {
                mkdirat(file.descriptor, name, 0o700)
            }
        } catch {
            if !error.isNameTaken { throw error }
            return
        }
        guard newOwner != nil else { return }
        bestEffort("the owner of the directory is locked out then") { () throws(SystemError) in
            try giveAway(openFile(name, Self.flags))
        }
    }

    /// Gives a new file or directory the owner that it is to have. By its descriptor: the name may be another file's by now.
    private func giveAway(_ file: borrowing OpenFile) throws(SystemError) {
        guard let newOwner else { return }
        let (descriptor, name) = (file.descriptor, file.name)
        _ = try layer.call(.changeOwner(descriptor), name) { fchown(descriptor, newOwner.user, newOwner.group) }
    }

    /// Opens the file `name` for reading. Never waits, for any kind of file.
    func file(_ name: String) throws(SystemError) -> OpenFile {
        try openFile(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    }

    /// Opens the file `name` for reading and writing, or for reading where writing is not allowed.
    func fileForUpdate(_ name: String) throws(SystemError) -> OpenFile {
        let flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
        do throws(SystemError) {
            #if os(Linux)
                // O_NOATIME saves a tenth of the time of a read. The system allows it to the file's owner only.
                do throws(SystemError) {
                    return try openFile(name, flags | 0o1_000_000)
                } catch {
                    if error.number != EPERM { throw error }
                }
            #endif
            return try openFile(name, flags)
        } catch {
            guard error.isForbidden else { throw error }
            return try file(name)
        }
    }

    /// Why the file `name` may not be written; `nil` if it may.
    func refusalToWrite(_ name: String) -> SystemError? {
        do throws(SystemError) {
            _ = try openFile(name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            return nil
        } catch {
            return error
        }
    }

    /// The first bytes of the file `name`; `nil` if it is not a regular file.
    func regularFile(_ name: String, _ byteCount: Int) throws(SystemError) -> [UInt8]? {
        let file = try file(name)
        return try file.status().isRegular ? file.read(byteCount, at: 0) : nil
    }

    /// Makes the file `name`, `0600`, and opens it for writing, or as `access` says; throws `EEXIST` if something has that
    /// name.
    func makeFile(_ name: String, access: Int32 = O_WRONLY) throws(SystemError) -> OpenFile {
        let flags = access | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = try layer.call(.makeFile(in: file.descriptor, flags: flags), name) {
            openat(file.descriptor, name, flags, 0o600)
        }
        let made = OpenFile(descriptor: descriptor, name: name, layer: layer)
        bestEffort("the owner of the directory is locked out then") { () throws(SystemError) in
            try giveAway(made)
        }
        return made
    }

    /// The status of `name` itself, not of the target if it is a link; `nil` if nothing has that name.
    func status(_ name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        do {
            try withUnsafeMutablePointer(to: &status) { status throws(SystemError) in
                _ = try layer.call(.statusOfName(in: file.descriptor, status), name) {
                    fstatat(file.descriptor, name, status, AT_SYMLINK_NOFOLLOW)
                }
            }
        } catch {
            if error.isMissing { return nil }
            throw error
        }
        return FileStatus(status)
    }

    /// Whether this is still the directory at `path`, which is not followed if it is a link.
    func isAt(_ path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try FileStatus(path: path, layer: layer).identity == identity
        } catch {
            if error.isPathMissing { return false }
            throw error
        }
    }

    /// Gives the file `name` the name `newName` in `target`, in place of a file that has it, in one step. A directory that
    /// has it is taken out of the way, see ``clearDirectory(_:)``.
    func rename(_ name: String, to newName: String, in target: Directory) throws(SystemError) {
        func rename() throws(SystemError) {
            let system = SystemCall.rename(in: file.descriptor, to: target.file.descriptor)
            _ = try layer.call(system, name, newName: newName) {
                renameat(file.descriptor, name, target.file.descriptor, newName)
            }
        }
        do throws(SystemError) {
            try rename()
        } catch {
            guard error.isDirectory else { throw error }
            try target.clearDirectory(newName)
            try rename()
        }
        target.changeCount.add(1, ordering: .sequentiallyConsistent)
    }

    /// Gives the file `name` another name in `target`; throws `EEXIST` if something has that.
    func link(_ name: String, to newName: String, in target: Directory) throws(SystemError) {
        let system = SystemCall.link(in: file.descriptor, to: target.file.descriptor)
        _ = try layer.call(system, name, newName: newName) {
            linkat(file.descriptor, name, target.file.descriptor, newName, 0)
        }
    }

    /// Removes the name `name` of a file or a link; says whether anything had it. A directory that has it is taken out of
    /// the way, see ``clearDirectory(_:)``.
    @discardableResult
    func remove(_ name: String) throws(SystemError) -> Bool {
        do {
            _ = try layer.call(.remove(in: file.descriptor, flags: 0), name) { unlinkat(file.descriptor, name, 0) }
            changeCount.add(1, ordering: .sequentiallyConsistent)
            return true
        } catch {
            switch error.number {
            case ENOENT: return false
            case EISDIR, EPERM:
                guard try clearDirectory(name) else { throw error }
                return true
            default: throw error
            }
        }
    }

    /// Takes a directory out of the way that has the name of one of the store's files. No store makes such a one, so it was
    /// put there by hand: an empty one is removed, one with content gets a name that no store uses.
    ///
    ///     <name>.<16 hexadecimal digits>.aside
    ///
    /// A file is never removed so: the name may be the file of another process by now.
    ///
    /// - Returns: `false` if the name is not a directory's.
    @discardableResult
    func clearDirectory(_ name: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            do throws(SystemError) {
                let flags = Int32(AT_REMOVEDIR)
                _ = try layer.call(.remove(in: file.descriptor, flags: flags), name) {
                    unlinkat(file.descriptor, name, flags)
                }
            } catch {
                guard error.isNotEmpty else { throw error }
                let other = "\(name).\(DraftName.randomSession(layer)).aside"
                // With the slash only a directory is renamed.
                let system = SystemCall.rename(in: file.descriptor, to: file.descriptor)
                _ = try layer.call(system, name + "/", newName: other) {
                    renameat(file.descriptor, name + "/", file.descriptor, other)
                }
            }
        } catch {
            if error.isPathMissing { return false }
            throw error
        }
        changeCount.add(1, ordering: .sequentiallyConsistent)
        return true
    }

    /// Gives each name but `.` and `..` to `body`, until it returns `false`.
    func forEachName(_ body: (String) -> Bool) throws(SystemError) {
        // Opened again, since the position in the listing belongs to the open directory.
        let again = try openFile(".", Self.flags)
        let stream = try layer.call(
            .list(again.descriptor),
            name,
            at: { .init(bitPattern: $0) },
            body: { fdopendir(again.descriptor) }
        )
        guard let stream else { throw .last }
        again.release()
        let list = Int(bitPattern: stream)
        defer { bestEffort("only read") { try layer.close(.closeList(list), name) { closedir(stream) } } }
        while let entry = try layer.call(
            .nextName(list: list),
            name,
            at: { .init(bitPattern: $0) },
            body: { readdir(stream) }
        ) {
            // Read in place: the system gives no more of the record than the name takes.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                String(cString: UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self))
            }
            guard name == "." || name == ".." || body(name) else { return }
        }
    }

    /// Whether names were changed through this that are not known to be on the device.
    var hasChanges: Bool {
        changeCount.load(ordering: .sequentiallyConsistent)
            > synchronizedChangeCount.load(ordering: .sequentiallyConsistent)
    }

    /// Waits until its names are on the device.
    func synchronize() throws(SystemError) {
        let count = changeCount.load(ordering: .sequentiallyConsistent)
        do {
            try file.synchronize()
        } catch {
            // The error of a file system that does so by itself, or cannot do it.
            if error.number != EINVAL { throw error }
        }
        synchronizedChangeCount.max(count, ordering: .sequentiallyConsistent)
    }

    /// Takes this directory's advisory lock.
    ///
    /// The lock belongs to the open directory: it shuts out every other one of the same directory, in any
    /// process, but not other users of this one.
    ///
    /// - Parameter waits: whether to wait for it, or to throw where another one has it.
    func lock(waits: Bool = true) throws(SystemError) {
        try file.lock(waits: waits)
    }

    /// Gives the lock back.
    func unlock() throws(SystemError) {
        try file.unlock()
    }

    /// Makes the directory `path`, and those above it that are missing, `0700`.
    ///
    /// - Parameter synchronized: Whether to wait until the new directories are on the device.
    static func make(path: String, synchronized: Bool, layer: FileLayer) throws(SystemError) {
        do {
            _ = try layer.call(.makeDirectory(in: nil), path) { mkdir(path, 0o700) }
            if synchronized { try synchronizeParent(of: path, layer: layer) }
            return
        } catch {
            if error.isNameTaken { return }
            guard error.isMissing, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
                throw error
            }
            try make(path: String(path[..<slash]), synchronized: synchronized, layer: layer)
        }
        do {
            _ = try layer.call(.makeDirectory(in: nil), path) { mkdir(path, 0o700) }
            if synchronized { try synchronizeParent(of: path, layer: layer) }
        } catch {
            // Made by another process in the meantime.
            if !error.isNameTaken { throw error }
        }
    }

    private static func synchronizeParent(of path: String, layer: FileLayer) throws(SystemError) {
        // The dot, since links are followed above the store's own directory.
        try Directory(path: path[..<(path.lastIndex(of: "/") ?? path.startIndex)] + "/.", layer: layer)
            .synchronize()
    }
}
