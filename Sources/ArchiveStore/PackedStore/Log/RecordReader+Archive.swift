extension RecordReader {
    /// The dictionary that an entry's zlib stream was made with; `nil` if it needs none.
    ///
    /// - Parameter bytes: all of the record.
    /// - Throws: `.corrupted` if it is missing.
    func dictionary(of record: Record, in bytes: [UInt8]) throws(StoreError) -> PresetDictionary? {
        guard let name = record.dictionaryName(in: bytes) else { return nil }
        if let dictionary = try segments.dictionary(named: name) { return dictionary }
        throw failure(.damaged, of: record, limit: 0)
    }

    /// The archive of an entry.
    ///
    /// - Parameter bytes: all of the record.
    /// - Throws: `.corrupted` if it cannot be inflated, `.tooLarge`.
    func archive(of record: Record, in bytes: [UInt8], limit: Int) throws(StoreError) -> [UInt8] {
        let start = record.headByteCount
        let count = record.payloadByteCount
        let size = record.archiveByteCount
        let dictionary = try dictionary(of: record, in: bytes)
        do throws(InflateError) {
            guard let dictionary else {
                return try Zlib.inflate(from: start, count: count, of: bytes, expecting: size, limit: limit)
            }
            return try dictionary.inflate(from: start, count: count, of: bytes, expecting: size, limit: limit)
        } catch {
            throw failure(error, of: record, limit: limit)
        }
    }

    /// Inflates the archive of an entry in pieces: see ``ArchiveStore/peek(forKey:pieces:)``.
    func inflate(
        _ found: LocatedRecord,
        dictionary: PresetDictionary?,
        limit: Int,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) {
        do throws(InflateError) {
            try Zlib.inflate(
                from: found.record.headByteCount,
                count: found.record.payloadByteCount,
                of: found.bytes,
                dictionary: dictionary,
                expecting: found.record.archiveByteCount,
                limit: limit,
                pieces: body
            )
        } catch {
            throw failure(error, of: found.record, limit: limit)
        }
    }

    private func failure(_ error: InflateError, of record: Record, limit: Int) -> StoreError {
        let (code, reason): (StoreError.Code, String) =
            switch error {
            case .damaged: (.corrupted, "the zlib stream is not whole, or its dictionary is missing")
            case .impossibleLength: (.corrupted, "the archive's length is impossible")
            case .tooLarge:
                (.tooLarge, "an archive of \(record.archiveByteCount) bytes is larger than the limit of \(limit)")
            }
        return StoreError(code, path: segments.directoryPath, action: "reading an entry", reason: reason)
    }
}
