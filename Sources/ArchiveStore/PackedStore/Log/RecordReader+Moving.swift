extension RecordReader {
    /// An entry for another segment, compressed again unless that has the dictionary it needs.
    ///
    /// - Parameters:
    ///   - bytes: all of the record, in which the payload may be damaged; an encrypted one is decrypted.
    ///   - dictionary: the other segment's; `nil` if it has none.
    /// - Returns: `nil` if the record is damaged, or one that no store has written, or none could read.
    /// - Throws: `.io`.
    func draft(
        moving record: Record,
        bytes: [UInt8],
        from slot: IndexSlot,
        to dictionary: PresetDictionary?
    ) throws(StoreError) -> RecordDraft? {
        do throws(StoreError) {
            let number = slot.place.segment
            let former =
                record.isBare
                ? try self.dictionary(of: record, in: bytes, segment: number)?.identifier
                : record.dictionaryName(in: bytes)
            if former == nil || former == dictionary?.identifier {
                return try RecordDraft(moving: record, bytes: bytes, hash: slot.hash, isSealed: isSealed)
            }
            guard record.hasSoundPayload(bytes, dictionary: former) else { return nil }
            return try .entry(
                key: record.key,
                hash: slot.hash,
                isSealed: isSealed,
                serial: record.serial,
                attributes: record.attributes,
                archive: archive(of: record, in: bytes, segment: number, limit: Zlib.largestByteCount),
                dictionary: dictionary,
                // It was compressed: it must not take more room than before, even if new entries are not compressed.
                compression: .automatic
            )
        } catch {
            if [.corrupted, .tooLarge, .invalidArgument].contains(error.code) { return nil }
            throw error
        }
    }
}
