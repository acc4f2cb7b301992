/// Why the bytes of a file are not an entry that can be used.
package enum EntryFault: Error {
    /// The bytes have changed since the save.
    case damaged(String)
    /// A whole entry of a version that came after this one.
    case unsupportedVersion(Int)
    /// The entry is encrypted, and its key is not here.
    case locked(String)
    /// More bytes than the limit allows; whether they are damaged was not looked at.
    case tooLarge(byteCount: UInt64)

    /// The store's error for it.
    ///
    /// - Parameters:
    ///   - path: the file's.
    ///   - limit: the largest archive, in bytes.
    package func error(path: String, limit: Int) -> StoreError {
        let action = "reading an entry"
        switch self {
        case .damaged(let reason):
            return StoreError(.corrupted, path: path, action: action, reason: reason)
        case .unsupportedVersion(let version):
            let reason = "the entry has format version \(version), this is \(EntryFooter.sealedVersion)"
            return StoreError(.unsupportedVersion, path: path, action: action, reason: reason)
        case .locked(let reason):
            return StoreError(.locked, path: path, action: action, reason: reason)
        case .tooLarge(let byteCount):
            let reason = "\(byteCount) bytes are more than the limit of \(limit)"
            return StoreError(.tooLarge, path: path, action: action, reason: reason)
        }
    }
}
