extension RecordDraft {
    /// An entry, its archive compressed.
    ///
    /// - Parameter dictionary: the one of the segment that the record is for.
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func entry(
        key: [UInt8],
        hash: UInt64,
        serial: UInt64 = 0,
        attributes: EntryAttributes,
        archive: [UInt8],
        dictionary: PresetDictionary?,
        compression: ArchiveCompression
    ) throws(StoreError) -> RecordDraft {
        let runs = archive.withUnsafeBytes { compression.runs(of: $0) }
        if archive.count >= UncopiedStream.leastArchive, !runs.contains(where: \.shrinks) {
            let stream = UncopiedStream(archive)
            return try .entry(key: key, hash: hash, serial: serial, attributes: attributes, stream: stream)
        }
        return try .entry(
            key: key,
            hash: hash,
            serial: serial,
            attributes: attributes,
            archiveByteCount: archive.count,
            payloadBound: StoredBlocks.byteCount(for: archive.count)
        ) { output in
            archive.withUnsafeBytes { archive in
                if let dictionary, archive.count <= PresetDictionary.largestInput {
                    return dictionary.deflate(archive, into: output, compression)
                }
                return Zlib.deflate(archive, runs, compression, into: output)
            }
        }
    }
}

extension Record {
    /// The identifier of the dictionary that the record's zlib stream was made with; `nil` if it needs none.
    func dictionaryName(in bytes: [UInt8]) -> UInt32? {
        // RFC 1950: bit 5 of the second byte, then four bytes.
        let stream = bytes[headByteCount...].prefix(6)
        guard stream.count == 6, stream[headByteCount + 1] & 0x20 != 0 else { return nil }
        return stream.suffix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension PackedLog {
    /// The dictionary that an entry's zlib stream was made with; `nil` if it needs none.
    ///
    /// - Parameter bytes: all of the record.
    /// - Throws: `.corrupted` if it is missing.
    func dictionary(of record: Record, _ bytes: [UInt8]) throws(StoreError) -> PresetDictionary? {
        guard let name = record.dictionaryName(in: bytes) else { return nil }
        if let dictionary = try segments.dictionary(named: name) { return dictionary }
        throw error(.damaged, record, limit: 0)
    }

    /// The archive of an entry.
    ///
    /// - Parameter bytes: all of the record.
    /// - Throws: `.corrupted` if it cannot be inflated, `.tooLarge`.
    func archive(of record: Record, _ bytes: [UInt8], limit: Int) throws(StoreError) -> [UInt8] {
        let start = record.headByteCount
        let count = record.payloadByteCount
        let size = record.archiveByteCount
        let dictionary = try dictionary(of: record, bytes)
        do throws(InflateError) {
            guard let dictionary else {
                return try Zlib.inflate(from: start, count: count, of: bytes, expecting: size, limit: limit)
            }
            return try dictionary.inflate(from: start, count: count, of: bytes, expecting: size, limit: limit)
        } catch {
            throw self.error(error, record, limit: limit)
        }
    }

    /// Inflates the archive of an entry in pieces: see ``ArchiveStore/peek(forKey:pieces:)``.
    func inflate(
        _ found: Found,
        _ dictionary: PresetDictionary?,
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
            throw self.error(error, found.record, limit: limit)
        }
    }

    private func error(_ error: InflateError, _ record: Record, limit: Int) -> StoreError {
        let (code, reason): (StoreError.Code, String) =
            switch error {
            case .damaged: (.corrupted, "the zlib stream is not whole, or its dictionary is missing")
            case .impossibleLength: (.corrupted, "the archive's length is impossible")
            case .tooLarge:
                (.tooLarge, "an archive of \(record.archiveByteCount) bytes is larger than the limit of \(limit)")
            }
        return StoreError(code, path: path, action: "reading an entry", reason: reason)
    }
}
