import Sealing
import Synchronization

/// The file `names` of an encrypted store that is open.
///
/// A store without it has no entries that anybody could read: one that may be made gets a new file, one that may not counts as
/// missing.
final class NamesFileInUse: Sendable {
    let content: NamesFile
    private let folder: StoreFolder
    /// Of the file when it was last looked at: it is replaced when the key is.
    private let identity: Mutex<FileIdentity>

    init(in folder: StoreFolder, _ keys: SealingKeys, create: Bool) throws(StoreError) {
        self.folder = folder
        let file: NamesFile
        if let found = try Self.read(folder.root, path: folder.path, keys: keys) {
            file = found
        } else {
            guard create else { throw folder.missing }
            // Of two processes, the second one finds the file of the first.
            file = try folder.withLock { () throws(StoreError) in
                if let found = try Self.read(folder.root, path: folder.path, keys: keys) { return found }
                let new = NamesFile(folder.root.layer, key: keys.current.identifier)
                return try Self.write(new, in: folder, by: keys.current)
            }
        }
        guard let identity = file.identity else { throw folder.missing }
        content = file
        self.identity = Mutex(identity)
        guard create, file.key != keys.current.identifier else { return }
        bestEffort("the former key still opens it, and the next opening tries again") { try renew(keys) }
    }

    /// Whether this is the file that the store was opened with, or that file encrypted with another key.
    func isCurrent() throws(StoreError) -> Bool {
        try attempt("looking for a store's names", folder.path + "/" + NamesFile.fileName) {
            () throws(SystemError) in
            let known = identity.withLock { $0 }
            let status = try folder.root.status(NamesFile.fileName)
            if status?.identity == known { return true }
            guard let (bytes, found) = try NamesFile.read(in: folder.root),
                NamesFile.salt(in: bytes) == content.salt
            else { return false }
            identity.withLock { $0 = found }
            return true
        }
    }

    /// Encrypts the file with the current key, if it has another one.
    func renew(_ keys: SealingKeys) throws(StoreError) {
        try folder.withLock { () throws(StoreError) in
            guard let file = try Self.read(folder.root, path: folder.path, keys: keys), file.salt == content.salt
            else {
                throw folder.missing
            }
            if file.key == keys.current.identifier { return }
            let written = try Self.write(file, in: folder, by: keys.current)
            if let found = written.identity { identity.withLock { $0 = found } }
        }
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
            _ = try read(root, path: path, keys: keys)
        } else if let isSealed = contents.isSealed, isSealed != (keys != nil) {
            throw isSealed ? .keyMissing(path) : .notEncrypted(path)
        }
    }

    private static func read(
        _ root: Directory,
        path: String,
        keys: SealingKeys
    ) throws(StoreError) -> NamesFile? {
        let found = try attempt("reading a store's names", path + "/" + NamesFile.fileName) {
            () throws(SystemError) in
            try NamesFile.read(in: root)
        }
        guard let found else { return nil }
        var file = try NamesFile(found.bytes, keys: keys, path: path)
        file.identity = found.identity
        return file
    }

    /// Waits for the device whatever the store's durability: no entry can be read without the file.
    private static func write(
        _ file: NamesFile,
        in folder: StoreFolder,
        by key: SealingKey
    ) throws(StoreError) -> NamesFile {
        try folder.replace(NamesFile.fileName, with: file.bytes(key, folder.root.layer), isDurable: true)
        var written = file
        written.identity = try attempt("looking for a store's names", folder.path) { () throws(SystemError) in
            try folder.root.status(NamesFile.fileName)?.identity
        }
        return written
    }
}
