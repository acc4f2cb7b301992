import Foundation
import TypedCache

/// The directory of an account, below the one of all accounts.
struct AccountDirectory: Sendable {
    /// The directory of all accounts.
    let root: URL
    /// The directory of this one.
    let url: URL
    let encryption: AccountEncryption

    private static let erasedPrefix = ".erased-"
    /// The file in the directory of an account that is being erased.
    private static let mark = ".erasing"

    /// - Parameter root: `nil`: `models` in the program's cache directory.
    /// - Throws: `.invalidAccount`.
    init(
        account: String,
        in root: URL?,
        encryption: AccountEncryption = .none
    ) throws(ModelCacheError) {
        let root = root ?? CacheDirectory.standard().appending(path: "models", directoryHint: .isDirectory)
        guard (1...60).contains(account.utf8.count) else {
            throw ModelCacheError(.invalidAccount, "the name of an account is 1 to 60 UTF-8 bytes long")
        }
        self.root = root
        url = root.appending(path: Self.component(account), directoryHint: .isDirectory)
        self.encryption = encryption
    }

    /// A path component for any name. Different names give different ones, also where case does not count.
    private static func component(_ account: String) -> String {
        var text = ""
        for (index, byte) in account.utf8.enumerated() {
            switch byte {
            case 0x61...0x7A, 0x30...0x39, 0x2D, 0x5F, 0x40: text.unicodeScalars.append(Unicode.Scalar(byte))
            case 0x2E where index > 0: text += "."
            default:
                let digits = String(byte, radix: 16, uppercase: false)
                text += "%" + (digits.count < 2 ? "0" + digits : digits)
            }
        }
        return text
    }

    /// Takes the account for one user of it in this process. Blocks on disk I/O.
    ///
    /// - Throws: `.accountInUse`, if it is taken; `.storage`, if its directory is a symbolic link.
    func claim() throws(ModelCacheError) -> AccountClaim {
        try checkNoLink()
        guard let claim = AccountClaim(path: pathWithoutLinks) else {
            throw ModelCacheError(
                .accountInUse,
                "the account is open in this process already: use that ModelCache, or close or erase it first"
            )
        }
        return claim
    }

    /// Erasing deletes the directory of the account's name: with a link, only the link, or files of another owner.
    private func checkNoLink() throws(ModelCacheError) {
        let name = root.appending(path: url.lastPathComponent, directoryHint: .notDirectory)
        // Not by `resourceValues`, which takes a twentieth of the time from an opening to its first list.
        var status = stat()
        guard lstat(name.path(percentEncoded: false), &status) == 0 else {
            if errno == ENOENT { return }
            let cause = NSError(domain: NSPOSIXErrorDomain, code: Int(errno))
            throw ModelCacheError(.storage, "the account's directory cannot be looked at", cause: cause)
        }
        guard status.st_mode & S_IFMT == S_IFLNK else { return }
        throw ModelCacheError(
            .storage,
            "the account's directory is a symbolic link; the directory of all accounts may be one"
        )
    }

    /// The path of the directory without symbolic links, one for all ways to it, also while it is not made yet.
    private var pathWithoutLinks: String {
        var present = url.standardizedFileURL
        var missing: [String] = []
        while !FileManager.default.fileExists(atPath: present.path(percentEncoded: false)),
            present.pathComponents.count > 1
        {
            missing.append(present.lastPathComponent)
            present.deleteLastPathComponent()
        }
        return ([CacheDirectory.place(present)] + missing.reversed()).joined(separator: "/")
    }

    /// Deletes directories of accounts that were erased by a process that ended before it was done. Blocks on disk I/O.
    ///
    /// - Returns: the first failure; the rest is deleted all the same.
    func deleteErased() -> ModelCacheError? {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false))
        } catch let error as CocoaError where error.isMissingFile {
            return nil
        } catch {
            return ModelCacheError(.storage, "erased accounts cannot be looked for", cause: error)
        }
        var failure: ModelCacheError?
        for name in names where name.hasPrefix(Self.erasedPrefix) {
            failure = delete(root.appending(path: name)) ?? failure
        }
        return failure
    }

    /// Forgets the account's keys, and then takes it away: it has no name any longer at once, and then no files. Blocks on
    /// disk I/O.
    ///
    /// - Throws: `.storage`. If the account still has its name then, its files are as they were.
    func erase() throws(ModelCacheError) {
        let failure = forgetKeys()
        try deleteFiles()
        if let failure { throw failure }
    }

    /// Ends the erasing of the account that another process has begun, and may not have ended. Blocks on disk I/O.
    ///
    /// - Throws: `.storage`.
    func finishErasing() throws(ModelCacheError) {
        guard access(markPath, F_OK) == 0 else { return }
        try erase()
    }

    private var markPath: String { url.appending(path: Self.mark).path(percentEncoded: false) }

    private func forgetKeys() -> ModelCacheError? {
        guard let forget = encryption.forget else { return nil }
        leaveMark()
        do {
            try forget()
            return nil
        } catch {
            return ModelCacheError(.storage, "the keys of the account cannot be forgotten", cause: error)
        }
    }

    /// Marks the account as one that is being erased: once its keys are forgotten, it cannot be opened. On a full volume there
    /// is no mark, and an account whose erasing is interrupted has to be erased again.
    private func leaveMark() {
        let descriptor = open(markPath, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    private func deleteFiles() throws(ModelCacheError) {
        let erased = root.appending(path: Self.erasedPrefix + UUID().uuidString)
        do {
            try FileManager.default.moveItem(at: url, to: erased)
        } catch let error as CocoaError where error.isMissingFile {
            return
        } catch {
            throw ModelCacheError(.storage, "the account cannot be erased", cause: error)
        }
        if let failure = delete(erased) { throw failure }
    }

    /// Erases the account, which is not open, and deletes the remains of interrupted erasures. Blocks on disk I/O.
    ///
    /// - Throws: `.accountInUse`, `.storage`.
    func eraseUnopened() throws(ModelCacheError) {
        let claim = try claim()
        defer { withExtendedLifetime(claim) {} }
        try erase()
        if let failure = deleteErased() { throw failure }
    }

    private func delete(_ directory: URL) -> ModelCacheError? {
        // Another opening may delete the same directory. Foundation stops at a file that is gone already, with others left.
        repeat {
            do {
                try FileManager.default.removeItem(at: directory)
            } catch let error as CocoaError where error.isMissingFile {
                continue
            } catch {
                return ModelCacheError(
                    .storage,
                    "files of an erased account cannot be deleted; the next opening tries again",
                    cause: error
                )
            }
        } while FileManager.default.fileExists(atPath: directory.path(percentEncoded: false))
        return nil
    }
}
