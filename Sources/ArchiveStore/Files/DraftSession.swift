import Foundation
import Synchronization

/// Where one store writes files before they get their names.
///
///     <directory>/.drafts/8c5f0d1be2a94733.lock     locked (`flock`) as long as the session lives
///                         8c5f0d1be2a94733.17       its draft number 17
///
/// A draft becomes an entry by a rename, in one step, so that no name ever shows part of one. A process that was killed
/// leaves drafts; a later session that can take the lock of theirs knows that it is dead, and deletes them.
///
/// Between making a lock file and locking it, another process may take the session for dead and delete the
/// file. So a session counts only once its locked file is seen to have its name still; else a new one is
/// tried.
final class DraftSession: Sendable {
    static let directoryName = ".drafts"

    let directory: Directory
    private let path: String
    private let name: String
    private let lock: OpenFile
    private let count = Atomic<UInt64>(0)
    private let usage = StoreUsage()

    /// Starts a session in a directory of `root`, made if it is missing, and cleans up after dead ones.
    init(
        in root: Directory,
        path rootPath: String,
        directoryName: String = DraftSession.directoryName
    ) throws(StoreError) {
        path = rootPath + "/" + directoryName
        directory = try attempt("opening the directory of drafts", directory: path) { () throws(SystemError) in
            try root.makeDirectory(directoryName)
            return try root.directory(directoryName)
        }
        while true {
            let candidate = DraftName.randomSession(root.layer)
            let lock = try attempt("starting a session of drafts", path, Self.lock(candidate, in: directory))
            guard let lock else { continue }
            name = candidate
            self.lock = lock
            break
        }
        DraftCleaner(directory: directory, ownSession: name).clean()
    }

    deinit {
        // The session of a process goes on when a child that was forked ends.
        guard usage.isUsable else { return }
        bestEffort("without its lock, the next session deletes it") { try directory.remove(name + ".lock") }
    }

    /// Makes and locks the lock file of a new session; `nil` if that cannot have this name.
    private static func lock(_ session: String, in directory: Directory) throws(SystemError) -> OpenFile? {
        let fileName = session + ".lock"
        let file: OpenFile
        do {
            file = try directory.makeFile(fileName)
        } catch {
            if error.isNameTaken { return nil }
            throw error
        }
        do {
            try file.lock(waits: false)
            let own = try file.status().identity
            guard try directory.status(fileName)?.identity == own else { return nil }
            return file
        } catch {
            // Another session takes it for the lock of a dead one, and deletes it.
            if error.isLockedByOthers { return nil }
            bestEffort("the next session deletes it") { try directory.remove(fileName) }
            throw error
        }
    }

    /// Writes `bytes` to a new draft; nothing is left behind if that fails.
    ///
    /// - Parameter synchronized: Whether the bytes reach the device before anything that is written later.
    func write(_ bytes: [UInt8], synchronized: Bool = false) throws(StoreError) -> (
        name: String, status: FileStatus
    ) {
        try write(FileContent(bytes), synchronized: synchronized)
    }

    /// As above, of bytes in pieces.
    func write(_ content: FileContent, synchronized: Bool) throws(StoreError) -> (
        name: String, status: FileStatus
    ) {
        try write(synchronized: synchronized) { file throws(SystemError) in try file.write(content) }
    }

    /// As above, of the bytes that `body` writes.
    func write(
        synchronized: Bool,
        _ body: (borrowing OpenFile) throws(SystemError) -> Void
    ) throws(StoreError) -> (name: String, status: FileStatus) {
        try finish(begin(body), synchronized: synchronized)
    }

    /// Writes a draft that stays open until ``finish(_:synchronized:)``; nothing is left behind if that fails.
    func begin(_ body: (borrowing OpenFile) throws(SystemError) -> Void) throws(StoreError) -> OpenDraft {
        let (_, number) = count.add(1, ordering: .relaxed)
        let draft = "\(name).\(number)"
        return try attempt(Self.writing, path + "/" + draft) { () throws(SystemError) in
            let file = try directory.makeFile(draft)
            do throws(SystemError) {
                try body(file)
                return OpenDraft(name: draft, file: file)
            } catch {
                discard(draft)
                throw error
            }
        }
    }

    /// Completes the draft that ``begin(_:)`` began; nothing is left behind if that fails.
    ///
    /// - Parameter synchronized: Whether the bytes reach the device before anything that is written later.
    func finish(_ draft: OpenDraft, synchronized: Bool) throws(StoreError) -> (name: String, status: FileStatus) {
        do throws(StoreError) {
            let status = try attempt(
                Self.writing,
                path + "/" + draft.name,
                draft.close(synchronized: synchronized)
            )
            return (draft.name, status)
        } catch {
            discard(draft.name)
            throw error
        }
    }

    private static let writing = "writing a draft"

    /// Gives a draft the name of the session's published file, in place of the former one, in one step.
    func publish(_ draft: String) throws(StoreError) {
        do throws(StoreError) {
            try attempt("publishing a file", path + "/" + publishedName) { () throws(SystemError) in
                try directory.rename(draft, to: publishedName, in: directory)
            }
        } catch {
            discard(draft)
            throw error
        }
    }

    private var publishedName: String { "\(name).\(DraftName.published)" }

    /// Deletes the session's published file.
    func withdraw() {
        bestEffort("without the session's lock it counts as left over") { try directory.remove(publishedName) }
    }

    /// Deletes a draft that did not become anything.
    func discard(_ draft: String) {
        bestEffort("it is deleted after this session; the failure that led here is the one to report") {
            try directory.remove(draft)
        }
    }
}

/// A draft that was written, and is still open.
final class OpenDraft {
    let name: String
    private var file: OpenFile?

    fileprivate init(name: String, file: consuming OpenFile) {
        self.name = name
        self.file = consume file
    }

    fileprivate func close(synchronized: Bool) throws(SystemError) -> FileStatus {
        guard let file = file.take() else { throw SystemError(number: EBADF) }
        if synchronized { try file.synchronizeBeforeRename() }
        let status = try file.status()
        try file.closeChecked()
        return status
    }
}
