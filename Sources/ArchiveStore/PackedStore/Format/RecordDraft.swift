import Foundation

/// The bytes of a record that has no place yet. Its content begins with the head in one piece.
///
/// Unsafe code, and why it is sound: fields are stored at constant offsets into at least 64 bytes, and the closure that
/// writes the payload is given the rest of the buffer behind the head, as a buffer of known size.
struct RecordDraft {
    private(set) var content: FileContent
    /// The hash of the key, or the serial of a floor or a loss; 0 for a seal.
    let hash: UInt64
    let archiveByteCount: Int
    private let headByteCount: Int

    var byteCount: Int { content.count }

    private init(
        _ kind: Record.Kind,
        key: [UInt8],
        hash: UInt64,
        serial: UInt64 = 0,
        attributes: [UInt8] = [],
        storedAt: Double = 0,
        expiresAt: Double = .infinity,
        archiveByteCount: Int = 0,
        stream: UncopiedStream? = nil,
        payloadBound: Int = 0,
        payload: (UnsafeMutableRawBufferPointer) -> Int = { _ in 0 }
    ) {
        let headByteCount = Record.headByteCount + key.count + attributes.count
        let bytes = [UInt8](unsafeUninitializedCapacity: headByteCount + payloadBound) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(buffer)
            let fields = ByteWriter(output)
            count = headByteCount + payload(UnsafeMutableRawBufferPointer(rebasing: output[headByteCount...]))
            let written = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[headByteCount..<count])
            fields.store(Record.magic, at: 0)
            fields.store(UInt32(0), at: 4)
            fields.store(stream?.checksum ?? Zlib.crc32(written), at: 8)
            fields.store(kind.rawValue, at: 12)
            fields.store(UInt8(0), at: 13)
            fields.store(UInt16(key.count), at: 14)
            fields.store(UInt16(attributes.count), at: 16)
            fields.store(UInt16(0), at: 18)
            fields.store(UInt32(stream?.byteCount ?? written.count), at: 20)
            fields.store(UInt32(archiveByteCount), at: 24)
            fields.store(UInt32(0), at: 28)
            fields.store(UInt64(0), at: 32)
            fields.store(serial, at: 40)
            fields.store(storedAt.bitPattern, at: 48)
            fields.store(expiresAt.bitPattern, at: 56)
            let rest = UnsafeMutableRawBufferPointer(rebasing: output[Record.headByteCount..<headByteCount])
            rest.copyBytes(from: key)
            UnsafeMutableRawBufferPointer(rebasing: rest[key.count...]).copyBytes(from: attributes)
        }
        content = stream.map { FileContent(start: bytes, $0) } ?? FileContent(bytes)
        self.hash = hash
        self.archiveByteCount = archiveByteCount
        self.headByteCount = headByteCount
    }

    /// An entry.
    ///
    /// - Parameters:
    ///   - archiveByteCount: the archive's length.
    ///   - payloadBound: the most bytes that `payload` writes.
    ///   - payload: writes a zlib stream of the archive, and returns its length.
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func entry(
        key: [UInt8],
        hash: UInt64,
        serial: UInt64 = 0,
        attributes: EntryAttributes,
        archiveByteCount: Int,
        payloadBound: Int,
        payload: (UnsafeMutableRawBufferPointer) -> Int
    ) throws(StoreError) -> RecordDraft {
        RecordDraft(
            .entry,
            key: key,
            hash: hash,
            serial: serial,
            attributes: try attributes.encoded(),
            storedAt: attributes.storedAt.timeIntervalSinceReferenceDate,
            expiresAt: attributes.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity,
            archiveByteCount: archiveByteCount,
            payloadBound: payloadBound,
            payload: payload
        )
    }

    /// An entry whose archive is stored as it is, and is not copied.
    ///
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func entry(
        key: [UInt8],
        hash: UInt64,
        serial: UInt64 = 0,
        attributes: EntryAttributes,
        stream: UncopiedStream
    ) throws(StoreError) -> RecordDraft {
        RecordDraft(
            .entry,
            key: key,
            hash: hash,
            serial: serial,
            attributes: try attributes.encoded(),
            storedAt: attributes.storedAt.timeIntervalSinceReferenceDate,
            expiresAt: attributes.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity,
            archiveByteCount: stream.archive.count,
            stream: stream
        )
    }

    static func removal(key: [UInt8], hash: UInt64) -> RecordDraft { RecordDraft(.removal, key: key, hash: hash) }

    static func loss(hash: UInt64) -> RecordDraft { RecordDraft(.loss, key: [], hash: hash, serial: hash) }

    static func floor(_ segment: UInt32) -> RecordDraft {
        RecordDraft(.floor, key: [], hash: UInt64(segment), serial: UInt64(segment))
    }

    static var seal: RecordDraft { RecordDraft(.seal, key: [], hash: 0) }

    /// A record as it was, for another place.
    init(moving record: Record, bytes: [UInt8], hash: UInt64) {
        content = FileContent(bytes)
        self.hash = hash
        archiveByteCount = record.archiveByteCount
        headByteCount = record.headByteCount
    }

    /// Gives the record its place.
    ///
    /// - Parameters:
    ///   - serial: a new one; `nil` to keep the one it has.
    ///   - previous: the record before it in the segment, or in the former one; `nil` if there is none.
    mutating func setPlace(
        _ place: RecordPlace,
        serial: UInt64?,
        isFirst: Bool,
        previous: PreviousRecord?
    ) {
        content.start.withUnsafeMutableBytes { output in
            let fields = ByteWriter(output)
            fields.store(isFirst ? Record.firstFlag : 0, at: 13)
            fields.store(UInt32(clamping: previous?.byteCount ?? 0), at: 28)
            fields.store(previous?.hash ?? 0, at: 32)
            if let serial { fields.store(serial, at: 40) }
            let head = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<headByteCount])
            fields.store(Record.checksum(head, at: place), at: 4)
        }
    }
}

/// The fields of a record that describe the one before it.
struct PreviousRecord: Sendable {
    let byteCount: Int
    /// Hash of its key.
    let hash: UInt64
}
