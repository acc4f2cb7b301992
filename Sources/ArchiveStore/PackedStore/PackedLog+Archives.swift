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
    /// The archive of an entry.
    ///
    /// - Parameter bytes: all of the record.
    /// - Throws: `.corrupted` if it cannot be inflated, `.tooLarge`.
    func archive(of record: Record, _ bytes: [UInt8], limit: Int) throws(StoreError) -> [UInt8] {
        func fail(_ code: StoreError.Code, _ reason: String) -> StoreError {
            StoreError(code, path: path, action: "reading an entry", reason: reason)
        }
        let start = record.headByteCount
        let count = record.payloadByteCount
        let size = record.archiveByteCount
        let name = record.dictionaryName(in: bytes)
        let dictionary = try name.flatMap { name throws(StoreError) in try segments.dictionary(named: name) }
        do throws(InflateError) {
            if name == nil {
                return try Zlib.inflate(from: start, count: count, of: bytes, expecting: size, limit: limit)
            }
            guard let dictionary else { throw .damaged }
            return try dictionary.inflate(from: start, count: count, of: bytes, expecting: size, limit: limit)
        } catch {
            switch error {
            case .damaged: throw fail(.corrupted, "the zlib stream is not whole, or its dictionary is missing")
            case .impossibleLength: throw fail(.corrupted, "the archive's length is impossible")
            case .tooLarge:
                throw fail(.tooLarge, "an archive of \(size) bytes is larger than the limit of \(limit)")
            }
        }
    }
}
