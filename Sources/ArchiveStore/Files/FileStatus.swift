import Foundation

/// The status that the system gives of a file (`stat`): its kind, its length and its identity.
struct FileStatus {
    let identity: FileIdentity
    let byteCount: Int
    /// The bytes of its blocks; fewer than the file's length if there are holes in it.
    let allocatedByteCount: Int
    let isRegular: Bool
    let isSymbolicLink: Bool
    let isDirectory: Bool
    /// How many names it has.
    let linkCount: Int
    let owner: FileOwner

    init(_ status: stat) {
        identity = FileIdentity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            number: UInt64(truncatingIfNeeded: status.st_ino)
        )
        byteCount = Int(clamping: status.st_size)
        // In units of 512 bytes, for every size of blocks.
        allocatedByteCount = min(max(0, Int(clamping: status.st_blocks)), 1 << 50) * 512
        isRegular = status.st_mode & S_IFMT == S_IFREG
        isSymbolicLink = status.st_mode & S_IFMT == S_IFLNK
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        linkCount = Int(clamping: status.st_nlink)
        owner = FileOwner(user: status.st_uid, group: status.st_gid)
    }

    /// The status of the file at `path`, which is not followed if it is a link.
    init(path: String, layer: FileLayer) throws(SystemError) {
        var status = stat()
        try withUnsafeMutablePointer(to: &status) { status throws(SystemError) in
            _ = try layer.call(.statusOfName(in: nil, status), path) { lstat(path, status) }
        }
        self.init(status)
    }
}

/// Tells a file from all other files, under any name, as long as it exists.
struct FileIdentity: Hashable {
    let device: UInt64
    let number: UInt64
}

/// The user and the group that a file belongs to.
struct FileOwner {
    let user: uid_t
    let group: gid_t
}
