/// An entry that is to be appended to a packed store's log.
struct NewRecord: Sendable {
    /// The bytes that the entry is made of.
    enum Content: Sendable {
        case archive([UInt8])
        /// A zlib stream made without a preset dictionary, of an archive of so many bytes.
        case stream([UInt8], archiveByteCount: Int)
    }

    let key: StoreKey
    let digest: KeyDigest
    let attributes: EntryAttributes
    let content: Content

    init(key: StoreKey, digest: KeyDigest, attributes: EntryAttributes, content: Content) {
        self.key = key
        self.digest = digest
        self.content = content
        var rounded = attributes
        rounded.storedAt = RecordTime.rounded(attributes.storedAt)
        self.attributes = rounded
    }

    var archiveByteCount: Int {
        switch content {
        case .archive(let archive): archive.count
        case .stream(_, let archiveByteCount): archiveByteCount
        }
    }

    /// Its record for segments with a dictionary, or with none, whose records are encrypted or not.
    func draft(
        _ dictionary: PresetDictionary?,
        _ compression: ArchiveCompression,
        isSealed: Bool
    ) throws(StoreError) -> RecordDraft {
        switch content {
        case .archive(let archive):
            try .entry(
                key: key.bytes,
                hash: digest.high,
                isSealed: isSealed,
                attributes: attributes,
                archive: archive,
                dictionary: dictionary,
                compression: compression
            )
        case .stream(let stream, let archiveByteCount):
            try .entry(
                key: key.bytes,
                hash: digest.high,
                isSealed: isSealed,
                attributes: attributes,
                archiveByteCount: archiveByteCount,
                payloadBound: stream.count
            ) { output in
                output.copyBytes(from: stream)
                return .init(isBare: false, byteCount: stream.count)
            }
        }
    }
}
