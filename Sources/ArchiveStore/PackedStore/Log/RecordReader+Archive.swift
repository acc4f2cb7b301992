extension RecordReader {
    /// The dictionary that an entry's archive was compressed with; `nil` if it needs none.
    ///
    /// - Parameters:
    ///   - bytes: all of the record.
    ///   - segment: the one that the record is in.
    /// - Throws: `.corrupted` if it is missing.
    func dictionary(
        of record: Record,
        in bytes: [UInt8],
        segment number: UInt32
    ) throws(StoreError) -> PresetDictionary? {
        let found: PresetDictionary?
        if record.isBare {
            found = try bareDictionary(of: record, in: bytes, segment: try segments.segment(number))
        } else {
            guard let name = record.dictionaryName(in: bytes) else { return nil }
            found = try segments.dictionary(named: name)
        }
        guard let found else { throw failure(.damaged, of: record, limit: 0) }
        return found
    }

    /// The dictionary that a bare payload was made with: that of its segment. If the segment's header is damaged, it is
    /// the one that the payload's checksum tells; `nil` if there is none.
    func bareDictionary(
        of record: Record,
        in bytes: [UInt8],
        segment: Segment?
    ) throws(StoreError) -> PresetDictionary? {
        if let segment, segment.headerByteCount != nil { return segment.dictionary }
        return try segments.dictionary { record.hasSoundPayload(bytes, dictionary: $0.identifier) }
    }

    /// The archive of an entry.
    ///
    /// - Parameters:
    ///   - bytes: all of the record, whose payload is sound.
    ///   - segment: the one that the record is in.
    ///   - known: the dictionary that the payload was made with, if that was found already.
    /// - Throws: `.corrupted` if it cannot be inflated, `.tooLarge`.
    func archive(
        of record: Record,
        in bytes: [UInt8],
        segment: UInt32,
        dictionary known: PresetDictionary? = nil,
        limit: Int
    ) throws(StoreError) -> [UInt8] {
        let start = record.headByteCount
        let count = record.payloadByteCount
        let size = record.archiveByteCount
        let dictionary = if let known { known } else { try dictionary(of: record, in: bytes, segment: segment) }
        do throws(InflateError) {
            guard let dictionary else {
                return try Zlib.inflate(from: start, count: count, of: bytes, expecting: size, limit: limit)
            }
            let inflate = record.isBare ? dictionary.inflateBare : dictionary.inflate
            return try inflate(start, count, bytes, size, limit)
        } catch {
            throw failure(error, of: record, limit: limit)
        }
    }

    /// As above, of a record that was read whole.
    func archive(of found: LocatedRecord, limit: Int) throws(StoreError) -> [UInt8] {
        try archive(
            of: found.record,
            in: found.bytes,
            segment: found.slot.place.segment,
            dictionary: found.dictionary,
            limit: limit
        )
    }

    /// The archive of a record that was read whole, if it has no more than `limit` bytes, and can be inflated.
    func archiveAtHand(of found: LocatedRecord, limit: Int) -> [UInt8]? {
        let byteCount = found.record.archiveByteCount
        guard byteCount > 0, byteCount <= limit else { return nil }
        // The caller asks for the entry once more where this is nil, and gets the error then.
        return try? archive(of: found, limit: byteCount)
    }

    /// The archive of an entry as a zlib stream.
    func stream(of found: LocatedRecord, limit: Int) throws(StoreError) -> ArraySlice<UInt8> {
        let payload = found.bytes[found.record.payloadRange]
        guard found.record.isBare else { return payload }
        let number = found.slot.place.segment
        guard let dictionary = try dictionary(of: found.record, in: found.bytes, segment: number) else {
            return payload
        }
        return dictionary.stream(ofBare: payload, content: try archive(of: found, limit: limit))[...]
    }

    /// Inflates the archive of an entry in pieces: see ``ArchiveStore/peek(forKey:pieces:)``.
    func inflate(
        _ found: LocatedRecord,
        dictionary: PresetDictionary?,
        limit: Int,
        pieces body: ([UInt8]) -> Bool
    ) throws(StoreError) {
        // Only small archives are.
        if found.record.isBare {
            _ = body(try archive(of: found, limit: limit))
            return
        }
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

    /// The error of a record that is longer than that of any archive of up to `limit` bytes.
    func tooLarge(_ record: Record, limit: Int) -> StoreError {
        StoreError(
            .tooLarge,
            path: segments.directoryPath,
            action: "reading an entry",
            reason: "\(record.byteCount) bytes are more than an archive within the limit of \(limit) takes"
        )
    }
}
