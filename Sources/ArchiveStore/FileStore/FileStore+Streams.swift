extension FileStore {
    /// Saves an archive that is compressed already: ``save(_:forKey:attributes:if:)`` without the compression.
    ///
    /// - Parameters:
    ///   - stream: a zlib stream. It is not checked: if it is not a zlib stream, a fetch of the archive finds that out.
    ///   - archiveByteCount: the archive's length.
    /// - Throws: as that does.
    @discardableResult
    package func save(
        stream: [UInt8],
        archiveByteCount: Int,
        forKey key: String,
        attributes: EntryAttributes
    ) throws(StoreError) -> EntryInformation? {
        let key = try StoreKey(key)
        guard max(stream.count, archiveByteCount) <= settings.archiveByteLimit else {
            throw StoreError(.tooLarge, action: "saving an archive", reason: "it is larger than the limit")
        }
        let bytes = try EntryFile.bytes(
            archiveByteCount: archiveByteCount,
            streamBound: stream.count,
            key: key,
            attributes: attributes
        ) { output in
            output.copyBytes(from: stream)
            return stream.count
        }
        return try save(FileContent(bytes), of: key, if: nil)
    }

    /// Fetches an archive as it is kept: ``fetch(forKey:)``, checks included, but not inflated.
    package func fetchStream(forKey key: String) throws(StoreError) -> StoredStream? {
        let key = try StoreKey(key)
        return try withChain(of: key) { chain, shard throws(StoreError) -> StoredStream? in
            guard let (entry, status) = try find(key, .archive, in: chain, of: shard) else { return nil }
            chain.journal.markUse(of: chain.name)
            return StoredStream(stream: entry.stream, information: information(entry, status, of: key))
        }
    }
}
