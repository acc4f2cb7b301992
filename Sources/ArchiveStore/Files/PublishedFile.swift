import Foundation
import Synchronization

/// A small file in a store's directory by which a process tells others of itself, as long as it lives.
///
///     <directory>/.live/8c5f0d1be2a94733.lock     locked (`flock`) as long as the file is published
///                       8c5f0d1be2a94733.stats    the file
///                       8c5f0d1be2a94733.17       the next one, while it is written
///
/// The file is replaced by a rename, so that readers find it whole. A process that was killed leaves its files behind,
/// and the system gives its lock back: so readers know that it has ended, though its process identifier may be
/// another's by then. The next process that publishes in the directory deletes them. A store's own files are elsewhere,
/// and a store never looks here.
package final class PublishedFile: Sendable {
    package static let directoryName = ".live"

    private struct Session: Sendable {
        let root: Directory
        let drafts: DraftSession
    }

    /// The absolute path of the store's directory.
    private let path: String
    private let layer: FileLayer
    // Its I/O happens under the lock, which one publishing caller and the closing one take.
    private let session = Mutex<Session?>(nil)
    private let usage = StoreUsage()

    /// Does nothing yet: the first call of ``replace(with:)`` makes the file.
    package convenience init(directory: String) throws(StoreError) {
        try self.init(directory: directory, layer: FileLayer())
    }

    init(directory: String, layer: FileLayer) throws(StoreError) {
        path = try StoreFolder.absolutePath(directory)
        self.layer = layer
    }

    deinit { close() }

    /// Publishes `bytes` in place of the former ones. Does nothing while there is no store at the directory's path.
    ///
    /// Implementation: `write` to a draft, then `rename`; the device is not waited for.
    ///
    /// - Throws: `.closed`, `.forked`; `.io` if the volume is full, say: the former bytes stay published then.
    package func replace(with bytes: [UInt8]) throws(StoreError) {
        try session.withLock { session throws(StoreError) in
            try usage.check()
            // The directory may have been moved, erased, or made again.
            if let open = session, try !isCurrent(open.root) { session = nil }
            if let drafts = session?.drafts {
                do throws(StoreError) {
                    return try drafts.publish(drafts.write(bytes).name)
                } catch {
                    // The folder was deleted; make it again.
                    guard error.errorNumber == ENOENT else { throw error }
                    session = nil
                }
            }
            guard StoreKind(directory: path) != nil else { return }
            let new = try start()
            session = new
            try new.drafts.publish(new.drafts.write(bytes).name)
        }
    }

    private func isCurrent(_ root: Directory) throws(StoreError) -> Bool {
        try attempt("looking for the store's directory", path, root.isAt(path))
    }

    private func start() throws(StoreError) -> Session {
        let root = try attempt("opening the store's directory", directory: path) { () throws(SystemError) in
            try Directory(path: path, layer: layer)
        }
        return Session(
            root: root,
            drafts: try DraftSession(in: root, path: path, directoryName: Self.directoryName)
        )
    }

    /// Takes the file back; later calls do nothing, nor do calls in a forked process.
    package func close() {
        let former = Result { () throws(StoreError) in
            guard try usage.close() else { return nil as Session? }
            return session.withLock { $0.take() }
        }
        // A failure means that the file is the parent process's.
        if case .success(let former?) = former { former.drafts.withdraw() }
    }
}

/// Published files as another process finds them. Their bytes are not to be trusted.
extension PublishedFile {
    package struct Found: Sendable {
        /// Tells the file from the directory's others.
        package let session: String
        /// No more than were asked for and one.
        package let bytes: [UInt8]
        /// Whether the session that published it still lives.
        package let isLive: Bool
    }

    /// How many files are read of one directory.
    private static var mostFiles: Int { 256 }

    /// The published files in the store's directory at `path`, in no order; none if there are none. Follows no link, and
    /// waits for nothing.
    ///
    /// Implementation: `openat`, `read`, and `flock` with `LOCK_SH | LOCK_NB` on each session's lock.
    ///
    /// - Parameter byteLimit: the length of the largest file that makes sense.
    /// - Throws: `.io`.
    package static func all(inDirectory path: String, byteLimit: Int) throws(StoreError) -> [Found] {
        try attempt("looking for published files", path) { () throws(SystemError) in
            let folder: Directory
            do throws(SystemError) {
                folder = try Directory(path: path, layer: FileLayer()).directory(directoryName)
            } catch {
                if error.isPathMissing { return [] }
                throw error
            }
            var names: [(name: String, session: String)] = []
            try folder.forEachName { name in
                if let known = DraftName(name), known.isPublished { names.append((name, known.session)) }
                return names.count < mostFiles
            }
            var found: [Found] = []
            for (name, session) in names {
                do throws(SystemError) {
                    let bytes = try folder.regularFile(name, byteLimit + 1)
                    guard let bytes else { continue }
                    found.append(Found(session: session, bytes: bytes, isLive: try isLive(session, in: folder)))
                } catch {
                    // Deleted in the meantime, or a link.
                    guard error.isMissing || error.isSymbolicLink || error.isNotRegular else { throw error }
                }
            }
            return found
        }
    }

    private static func isLive(_ session: String, in folder: Directory) throws(SystemError) -> Bool {
        do throws(SystemError) {
            return try folder.file(session + ".lock").isLockedByOthers()
        } catch {
            if error.isMissing || error.isSymbolicLink || error.isNotRegular { return false }
            throw error
        }
    }

    /// Deletes the files that killed processes have left behind in the store's directory at `path`.
    ///
    /// - Throws: `.io`.
    package static func removeLeftovers(inDirectory path: String) throws(StoreError) {
        try attempt("looking for published files", path) { () throws(SystemError) in
            do throws(SystemError) {
                let folder = try Directory(path: path, layer: FileLayer()).directory(directoryName)
                DraftCleaner(directory: folder, ownSession: "").clean()
            } catch {
                guard error.isPathMissing else { throw error }
            }
        }
    }
}
