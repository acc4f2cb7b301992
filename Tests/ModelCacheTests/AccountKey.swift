import Foundation
import ModelCache
import TypedCache

#if canImport(Security)
    import Security
#endif

// The code of the page Encrypted accounts, as it stands there.

/// The key of one account: in the keychain, or where there is none
/// in a file that one user can read.
struct AccountKey: Sendable {
    let account: String
    /// Where keys are files.
    var folder = URL.homeDirectory.appending(path: ".model-keys")

    struct Failure: Error { let code: Int }

    var encryption: AccountEncryption {
        .keys {
            (current: try key(), others: [])
        } forget: {
            try forget()
        }
    }

    /// The key; a new one if there is none. Of two threads that make one,
    /// the first one's is kept.
    func key() throws -> EncryptionKey {
        if let stored = try read() { return try Self.key(of: stored) }
        let (key, bytes) = EncryptionKey.random()
        var number = key.identifier.bigEndian
        let start = withUnsafeBytes(of: &number) { Data($0) }
        if try add(start + Data(bytes)) { return key }
        guard let stored = try read() else { throw Failure(code: 0) }
        return try Self.key(of: stored)
    }

    /// 8 bytes of its number, and its own 32.
    private static func key(of data: Data) throws -> EncryptionKey {
        let number = data.prefix(8).reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        let key = EncryptionKey(
            identifier: number,
            bytes: data.dropFirst(8)
        )
        guard let key else { throw Failure(code: 0) }
        return key
    }
}

#if canImport(Security)
    extension AccountKey {
        private var item: [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: "models",
                kSecAttrAccount: account,
            ]
        }

        private func read() throws -> Data? {
            var query = item
            query[kSecReturnData] = true
            var result: CFTypeRef?
            let code = SecItemCopyMatching(query as CFDictionary, &result)
            if code == errSecItemNotFound { return nil }
            guard code == errSecSuccess, let data = result as? Data else {
                throw Failure(code: Int(code))
            }
            return data
        }

        /// Returns false if there is one already.
        private func add(_ data: Data) throws -> Bool {
            var new = item
            new[kSecValueData] = data
            new[kSecAttrAccessible] =
                kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            let code = SecItemAdd(new as CFDictionary, nil)
            if code == errSecDuplicateItem { return false }
            guard code == errSecSuccess else {
                throw Failure(code: Int(code))
            }
            return true
        }

        func forget() throws {
            let code = SecItemDelete(item as CFDictionary)
            guard code == errSecSuccess || code == errSecItemNotFound else {
                throw Failure(code: Int(code))
            }
        }
    }
#endif

#if !canImport(Security)
    extension AccountKey {
        private var file: URL {
            let name = Data(account.utf8).map { String($0, radix: 16) }
            return folder.appending(path: name.joined(separator: "-"))
        }

        private func read() throws -> Data? {
            do {
                return try Data(contentsOf: file)
            } catch CocoaError.fileReadNoSuchFile {
                return nil
            }
        }

        /// Returns false if there is one already. The name shows the whole
        /// key or is not there.
        private func add(_ data: Data) throws -> Bool {
            let files = FileManager.default
            try files.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let draft = folder.appending(path: UUID().uuidString)
            defer { try? files.removeItem(at: draft) }
            let descriptor = open(
                draft.path,
                O_WRONLY | O_CREAT | O_EXCL,
                0o600
            )
            guard descriptor >= 0 else { throw Failure(code: Int(errno)) }
            let handle = FileHandle(
                fileDescriptor: descriptor,
                closeOnDealloc: true
            )
            try handle.write(contentsOf: data)
            // Entries that outlive a power failure need their key.
            try handle.synchronize()
            if link(draft.path, file.path) == 0 { return true }
            guard errno == EEXIST else { throw Failure(code: Int(errno)) }
            return false
        }

        func forget() throws {
            do {
                try FileManager.default.removeItem(at: file)
            } catch CocoaError.fileNoSuchFile {}
        }
    }
#endif
