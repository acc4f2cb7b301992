import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

extension FileStore {
    /// Implementation: deflate; `openat`, `write`, `close` of a draft; then, while the shard is locked
    /// (`flock`), a look at the slot and `renameat`.
    package func save(
        _ archive: [UInt8],
        forKey key: String,
        storedAt: Date,
        expiresAt: Date?
    ) throws(StoreError) {
        let key = try StoreKey(key)
        let stored = storedAt.timeIntervalSinceReferenceDate
        let expires = expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
        guard !stored.isNaN, !expires.isNaN else {
            throw StoreError(.invalidArgument, action: "saving an archive", reason: "a date is not a number")
        }
        guard archive.count <= maximumArchiveByteCount else {
            let reason = "\(archive.count) bytes are more than the limit of \(maximumArchiveByteCount)"
            throw StoreError(.tooLarge, action: "saving an archive", reason: reason)
        }
        let bytes = EntryFile.bytes(archive: archive, key: key, storedAt: stored, expiresAt: expires)
        try writing { directory throws(StoreError) in try save(bytes, of: key, in: directory) }
    }

    private func save(_ bytes: [UInt8], of key: StoreKey, in directory: StoreDirectory) throws(StoreError) {
        let name = naming(key)
        let shard = directory.shards[name.shard]
        // A shard that is no longer found by its path, or never was, means that the store is elsewhere by
        // now.
        guard let folder = try shard.directory(create: true), try shard.isNamed(folder) else {
            throw StoreError(SystemError(number: ENOENT), path: shard.path, action: "saving an archive")
        }
        let session = try directory.session()
        let chain = chain(name, in: folder, of: shard)

        let draft = try session.write(bytes)
        do throws(StoreError) {
            try shard.changing(folder) { () throws(StoreError) in
                let slot = try chain.slot(saving: key)
                do throws(SystemError) {
                    try session.directory.rename(draft, to: name.fileName(slot: slot), in: folder)
                } catch {
                    throw StoreError(error, path: chain.path(slot), action: "renaming a draft into place")
                }
            }
        } catch {
            session.discard(draft)
            throw error
        }
    }
}
