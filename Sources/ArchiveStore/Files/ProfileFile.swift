import Foundation

/// A small file beside a store's entries that several processes add to.
///
///     <directory>/.profile/            locked (`flock`) while the file is replaced
///                          uses        the file
///                          draft       the next one, until it is renamed
///
/// A draft that a killed process has left is replaced by the next one: only the process that has the lock makes one.
package enum ProfileFile {
    package static let directoryName = ".profile"
    private static let name = "uses"
    private static let draftName = "draft"

    /// The file's bytes, at most one more than `byteCount`; `nil` if there is none, or no regular file. Blocks on disk
    /// I/O.
    ///
    /// - Throws: `.io`.
    package static func bytes(inDirectory path: String, byteCount: Int) throws(StoreError) -> [UInt8]? {
        try attempt("reading the profile", path + "/" + directoryName) { () throws(SystemError) in
            do throws(SystemError) {
                let root = try Directory(path: path, layer: FileLayer())
                return try root.directory(directoryName).regularFile(name, byteCount + 1)
            } catch {
                if error.isMissing { return nil }
                throw error
            }
        }
    }

    /// Replaces the file's bytes by the result of `body`, while no other process does so. Blocks on disk I/O.
    ///
    /// - Parameter body: is given the bytes, at most one more than `byteCount`, or `nil` if there is no file; returns
    ///   `nil` to leave it as it is.
    /// - Throws: `.io`; the file is as it was then.
    package static func update(
        inDirectory path: String,
        byteCount: Int,
        _ body: ([UInt8]?) -> [UInt8]?
    ) throws(StoreError) {
        try attempt("writing the profile", path + "/" + directoryName) { () throws(SystemError) in
            let root = try Directory(path: path, layer: FileLayer())
            try root.makeDirectory(directoryName)
            let directory = try root.directory(directoryName)
            // Given back when the directory is closed.
            try directory.lock()
            var former: [UInt8]?
            do throws(SystemError) {
                former = try directory.regularFile(name, byteCount + 1)
            } catch {
                if !error.isMissing { throw error }
            }
            guard let bytes = body(former) else { return }
            try directory.remove(draftName)
            let draft = try directory.makeFile(draftName)
            do throws(SystemError) {
                try draft.write(bytes)
                try directory.rename(draftName, to: name, in: directory)
            } catch {
                bestEffort("the next update removes it") { try directory.remove(draftName) }
                throw error
            }
        }
    }
}
