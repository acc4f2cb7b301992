import Sealing
import Synchronization

/// The file `names` of an encrypted store that is open.
///
/// A store without it has no entries that anybody could read: one that may be made gets a new file, one that may not counts as
/// missing.
///
/// Locks: the mutex guards a reference; nothing else is taken under it. The file is replaced under the directory's `flock`.
final class NamesFileInUse: Sendable {
    let content: NamesFile
    private let folder: StoreFolder
    /// As it was when it was last looked at: it is replaced when the key is.
    private let known: Mutex<OpenNamesFile>

    init(in folder: StoreFolder, _ keys: SealingKeys, create: Bool) throws(StoreError) {
        self.folder = folder
        let path = folder.path
        let file: OpenNamesFile
        if let found = try OpenNamesFile.open(in: folder.root, path: path) {
            file = found
            content = try NamesFile(found.bytes, keys: keys, path: path)
        } else {
            guard create else { throw folder.missing }
            // Of two processes, the second one finds the file of the first.
            (file, content) = try folder.withLock { () throws(StoreError) in
                if let found = try OpenNamesFile.open(in: folder.root, path: path) {
                    return (found, try NamesFile(found.bytes, keys: keys, path: path))
                }
                let new = NamesFile(folder.root.layer, key: keys.current.identifier)
                return (try Self.write(new, in: folder, by: keys.current), new)
            }
        }
        known = Mutex(file)
        guard create, content.key != keys.current.identifier else { return }
        bestEffort("the former key still opens it, and the next opening tries again") { try renew(keys) }
    }

    /// Whether this is the file that the store was opened with, or that file encrypted with another key.
    func isCurrent() throws(StoreError) -> Bool {
        let identity = known.withLock { $0.identity }
        let status = try attempt(OpenNamesFile.action, folder.path, folder.root.status(NamesFile.fileName))
        if status?.identity == identity { return true }
        guard let found = try OpenNamesFile.open(in: folder.root, path: folder.path),
            NamesFile.salt(in: found.bytes) == content.salt
        else { return false }
        take(found)
        return true
    }

    /// Encrypts the file with the current key, if it has another one.
    func renew(_ keys: SealingKeys) throws(StoreError) {
        try folder.withLock { () throws(StoreError) in
            guard let found = try OpenNamesFile.open(in: folder.root, path: folder.path) else {
                throw folder.missing
            }
            let file = try NamesFile(found.bytes, keys: keys, path: folder.path)
            guard file.salt == content.salt else { throw folder.missing }
            if file.key == keys.current.identifier { return }
            take(try Self.write(file, in: folder, by: keys.current))
        }
    }

    private func take(_ file: OpenNamesFile) {
        let former = known.withLock { known in
            defer { known = file }
            return known
        }
        _ = consume former
    }

    /// Refuses a directory without a marker: one of the other kind, or with other keys.
    static func check(
        _ root: Directory,
        _ contents: StoreContents,
        path: String,
        keys: SealingKeys?
    ) throws(StoreError) {
        if contents.hasNames {
            guard let keys else { throw .keyMissing(path) }
            guard let found = try OpenNamesFile.open(in: root, path: path) else { return }
            _ = try NamesFile(found.bytes, keys: keys, path: path)
        } else if let isSealed = contents.isSealed, isSealed != (keys != nil) {
            throw isSealed ? .keyMissing(path) : .notEncrypted(path)
        }
    }

    /// Waits for the device whatever the store's durability: no entry can be read without the file.
    private static func write(
        _ file: NamesFile,
        in folder: StoreFolder,
        by key: SealingKey
    ) throws(StoreError) -> OpenNamesFile {
        try folder.replace(NamesFile.fileName, with: file.bytes(key, folder.root.layer), isDurable: true)
        // Removed at once, perhaps.
        guard let written = try OpenNamesFile.open(in: folder.root, path: folder.path) else { throw folder.missing }
        return written
    }
}

/// A file `names` that is open: so no other file gets its number.
private final class OpenNamesFile: Sendable {
    static let action = "reading a store's names"

    let bytes: [UInt8]
    let identity: FileIdentity
    private let file: OpenFile

    private init(_ file: consuming OpenFile) throws(SystemError) {
        let status = try file.status()
        bytes = status.isRegular ? try file.read(NamesFile.byteCount + 1, at: 0) : []
        identity = status.identity
        self.file = file
    }

    /// The file in a store's directory; `nil` if there is none.
    static func open(in root: Directory, path: String) throws(StoreError) -> OpenNamesFile? {
        try attempt(action, path + "/" + NamesFile.fileName) { () throws(SystemError) in
            do throws(SystemError) {
                return try OpenNamesFile(root.file(NamesFile.fileName))
            } catch {
                if error.isMissing { return nil }
                throw error
            }
        }
    }
}
