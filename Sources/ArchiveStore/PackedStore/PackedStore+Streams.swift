extension PackedStore {
    /// Saves an archive that is compressed already: ``save(_:forKey:attributes:if:)`` without the compression.
    ///
    /// - Parameters:
    ///   - stream: a zlib stream made without a preset dictionary. It is not checked: if it is invalid, a fetch of the
    ///     archive finds that out.
    ///   - archiveByteCount: the archive's length.
    /// - Throws: as that does.
    @discardableResult
    package func save(
        stream: [UInt8],
        archiveByteCount: Int,
        forKey key: String,
        attributes: EntryAttributes
    ) throws(StoreError) -> EntryInformation? {
        let (key, digest) = try self.key(key)
        guard max(stream.count, archiveByteCount) <= archiveByteLimit else {
            throw StoreError(.tooLarge, action: "saving an archive", reason: "it is larger than the limit")
        }
        let new = NewRecord(
            key: key,
            digest: digest,
            attributes: attributes,
            content: .stream(stream, archiveByteCount: archiveByteCount)
        )
        return try save(new, if: nil)
    }

    /// Fetches an archive as it is stored: like ``fetch(forKey:)``, with its checks, as a zlib stream.
    package func fetchStream(forKey key: String) throws(StoreError) -> StoredStream? {
        let (key, digest) = try self.key(key)
        return try withLog { log throws(StoreError) in
            try withDamageRemoved(digest.high, in: log) { () throws(StoreError) in
                guard let found = try log.find(key, digest) else { return nil }
                if found.slot.uses < IndexSlot.mostUses { log.index.use(found.slot) }
                let stream = try log.reader.stream(of: found, limit: archiveByteLimit)
                return StoredStream(stream: stream, information: log.reader.information(found, key: key.string))
            }
        }
    }

    /// Of the log as this process knows it, without records that other processes have appended since its last look.
    package var knownSize: KnownSize? { current?.knownSize }

    /// The bytes of each segment, in their order. Blocks on disk I/O, and takes the memory of one part of the index.
    ///
    /// - Complexity: O(*n*) in the entries.
    package func segments() throws(StoreError) -> [SegmentUse] {
        try withLog { log throws(StoreError) -> [SegmentUse]? in try log.segmentUses } ?? []
    }

    /// The number of entries and files, the bytes they take, and the bytes written until now. Blocks on disk I/O, and
    /// takes the memory of one part of the index.
    ///
    /// - Complexity: O(*n*) in the entries of index parts that are not loaded yet.
    package func statistics() throws(StoreError) -> StoreStatistics {
        try withLog { log throws(StoreError) -> StoreStatistics? in try log.statistics } ?? StoreStatistics()
    }
}
