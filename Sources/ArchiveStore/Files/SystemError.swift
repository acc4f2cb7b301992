import Foundation

/// The error number of a system call that failed.
struct SystemError: Error {
    let number: Int32

    /// The number that the last system call of this thread left.
    static var last: SystemError { SystemError(number: errno) }

    /// The system's text for it.
    var text: String {
        // Known numbers give constant strings on every platform; no buffer is shared.
        String(cString: strerror(number))
    }

    // MARK: Meanings
    //
    // The numbers that a call may fail with where that is not a failure for its caller, each set once:
    //
    //     open, stat, rename, unlink   isMissing, isPathMissing, isForbidden, isSymbolicLink, isNotRegular, isDirectory
    //     open with O_CREAT, mkdir     isNameTaken
    //     open of a directory          isNotDirectory
    //     unlink of a directory        isNotEmpty
    //     flock, fcntl                 isLockedByOthers
    //     fallocate, fcntl, ftruncate  isUnsupported, isFull
    //     every call that opens        isOutOfDescriptors
    //     read                         isDeviceFailure

    /// Nothing has the name.
    var isMissing: Bool { number == ENOENT }

    /// Nothing has the name, or a part of the path that leads to it is not a directory.
    var isPathMissing: Bool { number == ENOENT || number == ENOTDIR }

    /// Something has the name already.
    var isNameTaken: Bool { number == EEXIST }

    /// This user may not write there, or no user may.
    var isForbidden: Bool { number == EACCES || number == EPERM || number == EROFS }

    /// The name is a symbolic link's, which is never followed: some systems call it a link too many.
    var isSymbolicLink: Bool { number == ELOOP || number == EMLINK }

    /// The name is that of a pipe without a reader, a socket or a directory.
    var isNotRegular: Bool { number == ENXIO || number == EOPNOTSUPP || number == EISDIR }

    /// The name is a directory's, where it should be a file's.
    var isDirectory: Bool { number == EISDIR }

    /// The directory has content.
    var isNotEmpty: Bool { number == ENOTEMPTY || number == EEXIST }

    /// Something that is not a file has the name of one, and was put there by hand.
    var isObstacle: Bool { isSymbolicLink || [EISDIR, ENXIO, ENOTEMPTY].contains(number) }

    /// Something else than a directory has the name.
    var isNotDirectory: Bool { number == ENOTDIR || isSymbolicLink }

    /// Another open file has the lock.
    var isLockedByOthers: Bool { number == EWOULDBLOCK || number == EAGAIN }

    /// The file system cannot do this. Darwin says `ENOTSUP`, a number of its own there, or `ENOTTY`.
    var isUnsupported: Bool { [EOPNOTSUPP, ENOTSUP, ENOTTY, ENOSYS, EINVAL].contains(number) }

    /// The volume, or the user's quota on it, is full.
    var isFull: Bool { number == ENOSPC || number == EDQUOT }

    /// The place of the device cannot be read or written.
    var isDeviceFailure: Bool { number == EIO }

    /// The process, or the system, has no descriptor left.
    var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }
}
