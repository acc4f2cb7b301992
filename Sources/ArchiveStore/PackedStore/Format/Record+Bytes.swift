import Foundation

// Unsafe code, and why it is sound: fields are loaded and stored at constant offsets below 64, after a check that there
// are 64 bytes, and the parts behind them at lengths that were checked against the number of bytes.

extension Record {
    /// Parses the record that `bytes` begin with, after checking its head, but not its payload.
    ///
    /// - Parameter expected: the key that the record may have, which is not copied then.
    init(_ bytes: UnsafeRawBufferPointer, at place: RecordPlace, key expected: [UInt8] = []) throws(RecordFault) {
        let fields = ByteReader(bytes)
        guard bytes.count >= Self.headByteCount else { throw .incomplete }
        guard fields.number(at: 0) == Self.magic else { throw .damaged }
        let keyByteCount = Int(fields.number(at: 14, as: UInt16.self))
        attributesByteCount = Int(fields.number(at: 16, as: UInt16.self))
        guard keyByteCount <= StoreKey.largestByteCount,
            attributesByteCount <= EntryAttributes.largestByteCount
        else { throw .damaged }
        let headEnd = Self.headByteCount + keyByteCount + attributesByteCount
        guard bytes.count >= headEnd else { throw .incomplete }
        let head = UnsafeRawBufferPointer(rebasing: bytes[..<headEnd])
        guard fields.number(at: 4) == Self.checksum(head, at: place) else { throw .damaged }

        kind = Kind(rawValue: bytes[12])
        isFirst = bytes[13] & Self.firstFlag != 0
        payloadChecksum = fields.number(at: 8)
        payloadByteCount = Int(fields.number(at: 20, as: UInt32.self))
        archiveByteCount = Int(fields.number(at: 24, as: UInt32.self))
        previousByteCount = Int(fields.number(at: 28, as: UInt32.self))
        previousHash = KeyDigest.shortened(hash: fields.number(at: 32))
        serial = fields.number(at: 40)
        let storedAt = Double(bitPattern: fields.number(at: 48))
        let expiresAt = Double(bitPattern: fields.number(at: 56))
        let keyEnd = Self.headByteCount + keyByteCount
        let keyBytes = UnsafeRawBufferPointer(rebasing: bytes[Self.headByteCount..<keyEnd])
        key = keyBytes.elementsEqual(expected) ? expected : Array(keyBytes)
        // The checksum is correct, but no store wrote this.
        guard !storedAt.isNaN, !expiresAt.isNaN, kind != .entry || !key.isEmpty else { throw .damaged }
        var attributes = EntryAttributes(storedAt: Date(timeIntervalSinceReferenceDate: storedAt))
        if expiresAt != .infinity { attributes.expiresAt = Date(timeIntervalSinceReferenceDate: expiresAt) }
        if attributesByteCount > 0 {
            guard (try? attributes.decode(Array(bytes[keyEnd..<headEnd])[...])) != nil else { throw .damaged }
        }
        self.attributes = attributes
    }

    /// As above, of bytes in an array.
    init(head bytes: [UInt8], at place: RecordPlace, key: [UInt8] = []) throws(RecordFault) {
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(RecordFault) in try Record(bytes, at: place, key: key) }
        }.get()
    }

    /// As above, of a whole record, its payload checked as well.
    init(verifying bytes: [UInt8], at place: RecordPlace, key: [UInt8] = []) throws(RecordFault) {
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(RecordFault) in
                let record = try Record(bytes, at: place, key: key)
                guard bytes.count >= record.byteCount else { throw .incomplete }
                guard bytes.count == record.byteCount else { throw .damaged }
                let payload = UnsafeRawBufferPointer(rebasing: bytes[record.headByteCount...])
                // Payloads of other kinds are not needed, and their blocks may have been given back.
                guard record.kind != .entry || Zlib.crc32(payload) == record.payloadChecksum else { throw .damaged }
                return record
            }
        }
        self = try result.get()
    }

    /// The head of this record with another kind, for its place.
    ///
    /// - Parameter bytes: at least those of the head.
    func headAsRemoval(_ bytes: [UInt8], at place: RecordPlace) -> [UInt8] {
        var head = Array(bytes[..<headByteCount])
        head[12] = Kind.removal.rawValue
        head.withUnsafeMutableBytes { head in
            let checksum = Self.checksum(UnsafeRawBufferPointer(head), at: place)
            ByteWriter(head).store(checksum, at: 4)
        }
        return head
    }

    /// Whether the bytes are a seal's, or would be with one byte changed: they have its kind, or zeros in the fields
    /// that only other kinds use.
    static func isNearlySeal(_ head: [UInt8]) -> Bool {
        head.count == headByteCount && (head[12] == Kind.seal.rawValue || head[14..<28].allSatisfy { $0 == 0 })
    }

    /// Where the first record at or after `start` may begin: at the next magic; `nil` if there is none in `bytes`.
    static func candidate(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var index = start
        while index + 4 <= bytes.count {
            guard let found = memchr(base + index, Int32(magic >> 24), bytes.count - index) else { return nil }
            let first = UnsafeRawPointer(found) - base
            guard first + 4 <= bytes.count else { return nil }
            if ByteReader(bytes).number(at: first) == magic { return first }
            index = first + 1
        }
        return nil
    }

    /// How many bytes have to be checked to find out that a candidate is no record.
    static func checkedByteCount(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int {
        guard bytes.count - start >= headByteCount else { return headByteCount }
        func length(_ offset: Int) -> Int {
            Int(ByteReader(bytes).number(at: start + offset, as: UInt16.self))
        }
        let isPlausible =
            length(14) <= StoreKey.largestByteCount && length(16) <= EntryAttributes.largestByteCount
        return isPlausible ? headByteCount + length(14) + length(16) : headByteCount
    }

    /// The checksum of a head at a place.
    static func checksum(_ head: UnsafeRawBufferPointer, at place: RecordPlace) -> UInt32 {
        let number = (UInt64(place.segment) << 32 | UInt64(place.offset)).bigEndian
        let salt = withUnsafeBytes(of: number) { Zlib.crc32($0) }
        return Zlib.crc32(UnsafeRawBufferPointer(rebasing: head[8...]), continuing: salt)
    }
}
