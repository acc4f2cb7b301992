import Foundation

extension Directory {
    /// Opens the file `name` for reading and writing, made `0600` if it is missing and `create` is true; `nil` if it is
    /// missing. A directory of that name is not one, and is taken out of the way to make the file. Never waits, for any kind
    /// of file.
    func list(_ name: String, create: Bool) throws(SystemError) -> OpenFile? {
        while true {
            do throws(SystemError) {
                return try openFile(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
            } catch {
                guard error.isMissing || error.isDirectory else { throw error }
                if !create { return nil }
                if error.isDirectory { try clearDirectory(name) }
            }
            do throws(SystemError) {
                return try makeFile(name, access: O_RDWR)
            } catch {
                // Made by another process in the meantime.
                guard error.isNameTaken else { throw error }
            }
        }
    }

    /// How many bytes users like this one may still fill on the volume.
    func freeByteCount() throws(SystemError) -> Int {
        var status = statvfs()
        try withUnsafeMutablePointer(to: &status) { status throws(SystemError) in
            _ = try layer.call(.freeSpace(file.descriptor, status), file.name) { fstatvfs(file.descriptor, status) }
        }
        let (count, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        // Some file systems report no limit; sums of this number must not overflow.
        return overflow ? Self.mostFree : min(Int(clamping: count), Self.mostFree)
    }

    private static var mostFree: Int { .max / 4 }
}
