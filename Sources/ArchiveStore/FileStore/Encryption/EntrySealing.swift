import Sealing
import Synchronization

/// Encrypts and decrypts the entries of one file store.
///
/// Each file has a key of its own, made by HMAC-SHA256 from the store's key, a random salt in the file and the file's name:
/// so a file under another name, or of another store, does not open, and no two files are encrypted with one key unless 128
/// random bits are equal. The store's key is made by HKDF from one of the user's and the salt in the file `names`.
///
/// Locks: the mutex guards the keys; nothing else is taken under it.
final class EntrySealing: Sendable {
    let names: NameKeys
    private let salt: [UInt8]
    private let layer: FileLayer
    private let state: Mutex<State>

    private struct State {
        var keys: SealingKeys
        /// The store's, by the identifiers of those that they are made from.
        var entryKeys: [UInt64: SecretBytes] = [:]
    }

    init(_ file: NamesFile, keys: SealingKeys, layer: FileLayer) {
        names = NameKeys(secret: file.secret, salt: file.salt)
        salt = file.salt
        self.layer = layer
        state = Mutex(State(keys: keys))
    }

    // MARK: Keys

    /// The key of new entries.
    var currentKey: UInt64 { state.withLock { $0.keys.current.identifier } }

    /// Takes the keys that the user has by now; returns whether there is one that was not among the former ones.
    func take(_ keys: SealingKeys) -> Bool {
        state.withLock { state in
            let hasNew = keys.all.contains { state.keys.key($0.identifier) == nil }
            state = State(keys: keys)
            return hasNew
        }
    }

    /// The cipher of a file; `nil` if its key is not here.
    private func cipher(
        _ key: UInt64,
        _ algorithm: CipherAlgorithm,
        salt: [UInt8],
        name: EntryName
    ) -> AuthenticatedCipher? {
        guard let entryKey = entryKey(key) else { return nil }
        var message = salt
        name.write(to: &message)
        return AuthenticatedCipher(key: KeyDerivation.authenticationCode(key: entryKey, of: message), algorithm)
    }

    private func entryKey(_ identifier: UInt64) -> SecretBytes? {
        state.withLock { state in
            if let known = state.entryKeys[identifier] { return known }
            guard let key = state.keys.key(identifier) else { return nil }
            let purpose = Array("typed-cache entries".utf8)
            let made = KeyDerivation.key(from: key.bytes, salt: salt, purpose: purpose)
            state.entryKeys[identifier] = made
            return made
        }
    }

    // MARK: Entries

    /// Encrypts an entry that is about to be written.
    ///
    /// - Parameters:
    ///   - plain: the bytes of an ``EntryFile``.
    ///   - save: the number of its save; `nil`: this is a new one.
    func seal(
        _ plain: [UInt8],
        headByteCount: Int,
        _ name: EntryName,
        save: UInt64?
    ) -> (bytes: [UInt8], seal: EntryFile.Seal) {
        let random = Nonce.randomBytes(SealedEntry.saltByteCount + 8, layer)
        let save = save ?? ByteReader(random).number(at: SealedEntry.saltByteCount)
        let seal = SealedEntry.Seal(
            salt: Array(random.prefix(SealedEntry.saltByteCount)),
            save: save,
            key: currentKey,
            headByteCount: headByteCount
        )
        guard let cipher = cipher(seal.key, seal.algorithm, salt: seal.salt, name: name) else {
            // Another thread has taken other keys since.
            return self.seal(plain, headByteCount: headByteCount, name, save: save)
        }
        return (SealedEntry.bytes(plain, seal, by: cipher), EntryFile.Seal(save: save, key: seal.key))
    }

    /// Checks and decrypts all bytes of a file.
    func entry(_ bytes: [UInt8], _ name: EntryName) throws(EntryFault) -> EntryFile {
        let checksum = EntryFile.checksum(bytes)
        let (seal, cipher) = try cipher(ofFile: bytes, fileByteCount: bytes.count, checksum: checksum, name)
        return try entry(SealedEntry.open(bytes, seal, by: cipher), seal, fileByteCount: bytes.count)
    }

    /// Checks and decrypts key and footer, from the last bytes of a file.
    func entry(tail: [UInt8], fileByteCount: Int, _ name: EntryName) throws(EntryFault) -> EntryFile {
        let (seal, cipher) = try cipher(ofFile: tail, fileByteCount: fileByteCount, checksum: nil, name)
        return try entry(SealedEntry.openHead(tail, seal, by: cipher), seal, fileByteCount: fileByteCount)
    }

    private func cipher(
        ofFile tail: [UInt8],
        fileByteCount: Int,
        checksum: UInt32?,
        _ name: EntryName
    ) throws(EntryFault) -> (SealedEntry.Seal, AuthenticatedCipher) {
        let seal = try SealedEntry.Seal(tail, fileByteCount: fileByteCount, checksum: checksum)
        guard let cipher = cipher(seal.key, seal.algorithm, salt: seal.salt, name: name) else {
            throw .locked("it is encrypted with key \(seal.key), which is not among those that were given")
        }
        return (seal, cipher)
    }

    private func entry(
        _ plain: [UInt8]?,
        _ seal: SealedEntry.Seal,
        fileByteCount: Int
    ) throws(EntryFault) -> EntryFile {
        guard let plain else { throw .damaged("it is not what was encrypted under this name") }
        return try EntryFile(
            tail: plain,
            fileByteCount: fileByteCount - SealedEntry.overhead,
            checksum: nil,
            seal: .init(save: seal.save, key: seal.key)
        )
    }
}
