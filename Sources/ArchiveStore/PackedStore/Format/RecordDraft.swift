import Foundation

/// The bytes of a record that has no place yet. Its content begins with the head in one piece.
///
/// Unsafe code, and why it is sound: the buffer has room for the longest head and the payload's bound; fields are stored
/// within it by a writer that checks each, and the closure that writes the payload is given the rest of the buffer after
/// the head, as a buffer of known size. A short payload is moved to the end of the actual head, within the buffer.
struct RecordDraft: Sendable {
    private(set) var content: FileContent
    /// The hash of the key, or the serial of a floor or a loss; 0 for a seal.
    let hash: UInt64
    let archiveByteCount: Int
    let isEntry: Bool
    /// `nil` if it will be that of the record's place.
    private let serial: UInt64?
    private let headByteCount: Int
    private let isSealed: Bool
    /// How its bytes are encrypted at present.
    private var sealed: (sealing: RecordSealing, place: RecordPlace)?

    var byteCount: Int { content.count }

    /// The serial of the record, once it has its place.
    func serial(at place: RecordPlace) -> UInt64 { serial ?? place.serial }

    /// The parts of an entry besides its key and payload.
    private struct EntryFields {
        var storedAt: Double
        var expiresAt: Double
        var archiveByteCount: Int
        var attributes: [UInt8]

        init(_ attributes: EntryAttributes, archiveByteCount: Int) throws(StoreError) {
            storedAt = attributes.storedAt.timeIntervalSinceReferenceDate
            expiresAt = attributes.expiresAt?.timeIntervalSinceReferenceDate ?? .infinity
            self.archiveByteCount = archiveByteCount
            self.attributes = try attributes.encoded()
        }
    }

    /// Payloads up to this length are moved so that their length takes no byte too many.
    private static let mostMovedBytes = 1 << 14

    private init(
        _ kind: Record.Kind,
        key: [UInt8],
        hash: UInt64,
        isSealed: Bool,
        serial: UInt64? = nil,
        entry: EntryFields? = nil,
        stream: UncopiedStream? = nil,
        payloadChecksum: UInt32? = nil,
        dictionary: UInt32? = nil,
        payloadBound: Int = 0,
        payload: (UnsafeMutableRawBufferPointer) -> PresetDictionary.Deflated = { _ in .nothing }
    ) {
        typealias Width = VariableLength
        let bound = Width.byteCount(of: stream?.byteCount ?? payloadBound)
        var flags = kind.rawValue
        let tagByteCount = isSealed ? RecordSealing.tagByteCount : 0
        var fixed = RecordHead.startByteCount + Width.byteCount(of: key.count) + tagByteCount
        if isSealed { fixed += RecordSealing.startByteCount - RecordHead.kindOffset }
        if let entry {
            fixed += 4 + RecordTime.byteCount(of: entry.storedAt) + Width.byteCount(of: entry.archiveByteCount)
            if entry.expiresAt != .infinity {
                flags |= RecordHead.expiresFlag
                fixed += 8
            }
            if !entry.attributes.isEmpty {
                flags |= RecordHead.attributesFlag
                fixed += Width.byteCount(of: entry.attributes.count)
            }
        }
        if let serial {
            flags |= RecordHead.serialFlag
            fixed += RecordSerial.byteCount(of: serial)
        }
        fixed += key.count + (entry?.attributes.count ?? 0)
        let longest = fixed + (entry == nil ? 0 : bound)
        var headByteCount = longest
        let endByteCount = entry == nil ? 0 : tagByteCount
        let bytes = [UInt8](unsafeUninitializedCapacity: longest + payloadBound + endByteCount) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(buffer)
            let made = payload(UnsafeMutableRawBufferPointer(rebasing: output[longest...]))
            let copied = longest..<(longest + made.byteCount)
            if made.isBare { flags |= RecordHead.bareFlag }
            let payloadByteCount = stream?.byteCount ?? copied.count
            var width = bound
            if entry != nil, payloadByteCount <= Self.mostMovedBytes {
                width = Width.byteCount(of: payloadByteCount)
                headByteCount = fixed + width
                let target = UnsafeMutableRawBufferPointer(rebasing: output[headByteCount...])
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: output[copied]))
            }
            let end = headByteCount + copied.count
            count = end + endByteCount
            var fields = FieldWriter(output)
            fields.write(Record.magic)
            // The checksum, or the start of an encrypted record: see `setPlace`.
            fields.write(UInt32(0))
            if isSealed {
                fields.write(UInt64(0))
                fields.write(UInt16(0))
                for index in headByteCount - tagByteCount..<headByteCount { output[index] = 0 }
                for index in end..<count { output[index] = 0 }
            }
            fields.write(flags)
            // The fields that describe the record before: see `setPlace`.
            fields.write(UInt64(0))
            fields.write(UInt8(0))
            fields.write(variableLength: key.count)
            if let entry {
                let written = UnsafeRawBufferPointer(rebasing: output[headByteCount..<end])
                let salt = made.isBare ? dictionary : nil
                fields.write(payloadChecksum ?? Record.payloadChecksum(written, dictionary: salt))
                RecordTime.write(entry.storedAt, to: &fields)
                fields.write(variableLength: payloadByteCount, byteCount: width)
                fields.write(variableLength: entry.archiveByteCount)
                if entry.expiresAt != .infinity { fields.write(entry.expiresAt.bitPattern) }
                if !entry.attributes.isEmpty { fields.write(variableLength: entry.attributes.count) }
            }
            if let serial { RecordSerial.write(serial, to: &fields) }
            fields.write(key)
            if let entry { fields.write(entry.attributes) }
        }
        content = stream.map { FileContent(start: bytes, $0) } ?? FileContent(bytes)
        self.hash = hash
        self.serial = serial
        archiveByteCount = entry?.archiveByteCount ?? 0
        isEntry = entry != nil
        self.isSealed = isSealed
        self.headByteCount = headByteCount
    }

    /// An entry.
    ///
    /// - Parameters:
    ///   - isSealed: whether the record is for a segment whose records are encrypted.
    ///   - archiveByteCount: the archive's length.
    ///   - dictionary: the identifier of the dictionary of the segment that the record is for; `nil` if it has none.
    ///   - payloadBound: the most bytes that `payload` writes.
    ///   - payload: writes the archive, deflated with this dictionary or none.
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func entry(
        key: [UInt8],
        hash: UInt64,
        isSealed: Bool,
        serial: UInt64? = nil,
        attributes: EntryAttributes,
        archiveByteCount: Int,
        dictionary: UInt32? = nil,
        payloadBound: Int,
        payload: (UnsafeMutableRawBufferPointer) -> PresetDictionary.Deflated
    ) throws(StoreError) -> RecordDraft {
        RecordDraft(
            .entry,
            key: key,
            hash: hash,
            isSealed: isSealed,
            serial: serial,
            entry: try EntryFields(attributes, archiveByteCount: archiveByteCount),
            dictionary: dictionary,
            payloadBound: payloadBound,
            payload: payload
        )
    }

    /// An entry whose archive is stored unchanged, and is not copied; for a segment whose records are not encrypted.
    ///
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    static func entry(
        key: [UInt8],
        hash: UInt64,
        serial: UInt64? = nil,
        attributes: EntryAttributes,
        stream: UncopiedStream
    ) throws(StoreError) -> RecordDraft {
        RecordDraft(
            .entry,
            key: key,
            hash: hash,
            isSealed: false,
            serial: serial,
            entry: try EntryFields(attributes, archiveByteCount: stream.archive.count),
            stream: stream,
            payloadChecksum: stream.checksum
        )
    }

    static func removal(key: [UInt8], hash: UInt64, isSealed: Bool) -> RecordDraft {
        RecordDraft(.removal, key: key, hash: hash, isSealed: isSealed)
    }

    static func loss(hash: UInt64, isSealed: Bool) -> RecordDraft {
        RecordDraft(.loss, key: [], hash: hash, isSealed: isSealed, serial: hash)
    }

    static func floor(_ segment: UInt32, isSealed: Bool) -> RecordDraft {
        RecordDraft(.floor, key: [], hash: UInt64(segment), isSealed: isSealed, serial: UInt64(segment))
    }

    static func seal(isSealed: Bool) -> RecordDraft { RecordDraft(.seal, key: [], hash: 0, isSealed: isSealed) }

    /// An entry as it was, for another place.
    ///
    /// - Parameter bytes: all of the record, its payload decrypted.
    /// - Throws: `.invalidArgument` for attributes that cannot be written.
    init(moving record: Record, bytes: [UInt8], hash: UInt64, isSealed: Bool) throws(StoreError) {
        self.init(
            .entry,
            key: record.key,
            hash: hash,
            isSealed: isSealed,
            serial: record.serial,
            entry: try EntryFields(record.attributes, archiveByteCount: record.archiveByteCount),
            // The checksum of the first save: a payload that was damaged since must stay damaged.
            payloadChecksum: record.payloadChecksum,
            payloadBound: record.payloadByteCount
        ) { output in
            output.copyBytes(from: bytes[record.payloadRange])
            return .init(isBare: record.isBare, byteCount: record.payloadByteCount)
        }
    }

    /// Gives the record its place.
    ///
    /// - Parameters:
    ///   - form: the segment's.
    ///   - previous: the record before it in the segment, or in the one before; `nil` for the log's first record.
    ///   - nonce: makes the one that an encrypted record gets.
    /// - Precondition: the record was made for such a form.
    mutating func setPlace(
        _ place: RecordPlace,
        in form: RecordForm,
        previous: PreviousRecord?,
        nonce: () -> Nonce
    ) {
        precondition(isSealed == (form.sealing != nil), "the record was made for another form")
        content.start.withUnsafeMutableBytes { output in
            // A former attempt to write it may have failed.
            if let sealed { sealed.sealing.unseal(output, headByteCount: headByteCount, at: sealed.place) }
            let fields = ByteWriter(output)
            let start = isSealed ? RecordSealing.startByteCount : RecordHead.kindOffset
            let hash = previous?.hash ?? 0
            fields.store(UInt16(truncatingIfNeeded: hash >> 32), at: start + 1)
            fields.store(UInt32(truncatingIfNeeded: hash), at: start + 3)
            let byteCount = UInt32(truncatingIfNeeded: previous?.byteCount ?? 0)
            fields.store(UInt8(truncatingIfNeeded: byteCount >> 16), at: start + 7)
            fields.store(UInt16(truncatingIfNeeded: byteCount), at: start + 8)
            if let sealing = form.sealing {
                sealing.seal(output, headByteCount: headByteCount, at: place, nonce())
            } else {
                let head = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(output)[..<headByteCount])
                fields.store(Record.checksum(head, at: place, seed: form.seed), at: RecordHead.checksumOffset)
            }
        }
        sealed = form.sealing.map { ($0, place) }
    }
}

/// The fields of a record that describe the one before it.
struct PreviousRecord: Sendable {
    let byteCount: Int
    /// Hash of its key.
    let hash: UInt64
}
