extension RecordDraft {
    /// An entry, its archive compressed.
    ///
    /// - Parameters:
    ///   - isSealed: whether the record is for a segment whose records are encrypted.
    ///   - dictionary: the one of the segment that the record is for.
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func entry(
        key: [UInt8],
        hash: UInt64,
        isSealed: Bool,
        serial: UInt64? = nil,
        attributes: EntryAttributes,
        archive: [UInt8],
        dictionary: PresetDictionary?,
        compression: ArchiveCompression
    ) throws(StoreError) -> RecordDraft {
        let runs = archive.withUnsafeBytes { compression.runs(of: $0) }
        if !isSealed, archive.count >= UncopiedStream.leastArchive, !runs.contains(where: \.shrinks) {
            let stream = UncopiedStream(archive)
            return try .entry(key: key, hash: hash, serial: serial, attributes: attributes, stream: stream)
        }
        return try .entry(
            key: key,
            hash: hash,
            isSealed: isSealed,
            serial: serial,
            attributes: attributes,
            archiveByteCount: archive.count,
            dictionary: dictionary?.identifier,
            payloadBound: StoredBlocks.byteCount(for: archive.count)
        ) { output in
            archive.withUnsafeBytes { archive in
                if let dictionary, archive.count <= PresetDictionary.largestInput {
                    return dictionary.deflate(archive, into: output, compression)
                }
                let count = Zlib.deflate(archive, in: runs, by: compression, into: output)
                return .init(isBare: false, byteCount: count)
            }
        }
    }
}
