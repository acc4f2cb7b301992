import Foundation

// Unsafe code, and why it is sound: parts are taken at lengths that were checked against the number of bytes.

extension Record {
    /// Parses the record that `bytes` begin with, after checking its head, but not its payload.
    ///
    /// - Parameters:
    ///   - form: the segment's.
    ///   - expected: the key that the record may have, which is not copied then.
    init(
        _ bytes: UnsafeRawBufferPointer,
        at place: RecordPlace,
        in form: RecordForm,
        key expected: [UInt8] = []
    ) throws(RecordFault) {
        if let sealing = form.sealing {
            self = try Self.opened(bytes, at: place, by: sealing, key: expected)
            return
        }
        let head = try RecordHead(bytes, at: place)
        guard bytes.count >= head.byteCount else { throw .incomplete }
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<head.byteCount])
        let checksum = Self.checksum(part, at: place, seed: form.seed)
        guard ByteReader(bytes).number(at: RecordHead.checksumOffset) == checksum else { throw .damaged }
        try self.init(head, in: bytes, key: expected, isSealed: false)
    }

    /// As above, of a record that is encrypted.
    private static func opened(
        _ bytes: UnsafeRawBufferPointer,
        at place: RecordPlace,
        by sealing: RecordSealing,
        key expected: [UInt8]
    ) throws(RecordFault) -> Record {
        let fields = ByteReader(bytes)
        guard bytes.count >= RecordSealing.startByteCount else { throw .incomplete }
        let length = Int(fields.number(at: RecordSealing.lengthOffset, as: UInt16.self))
        guard fields.number(at: 0) == magic, length <= largestHeadByteCount else { throw .damaged }
        let end = RecordSealing.startByteCount + length + RecordSealing.tagByteCount
        guard bytes.count >= end else { throw .incomplete }
        // The head as it is where nothing is encrypted, but for its checksum.
        let start = RecordHead.kindOffset
        return try withUnsafeTemporaryAllocation(byteCount: start + length, alignment: 8) { plain in
            Result { () throws(RecordFault) in
                UnsafeMutableRawBufferPointer(rebasing: plain[..<start]).copyBytes(from: bytes[..<start])
                let rest = UnsafeMutableRawBufferPointer(rebasing: plain[start...])
                guard sealing.openHead(of: bytes, at: place, into: rest) else { throw .damaged }
                let plain = UnsafeRawBufferPointer(plain)
                let head: RecordHead
                do throws(RecordFault) {
                    head = try RecordHead(plain, at: place)
                } catch {
                    throw .damaged
                }
                guard head.byteCount == plain.count else { throw .damaged }
                return try Record(head, in: plain, key: expected, isSealed: true)
            }
        }.get()
    }

    private init(
        _ head: RecordHead,
        in bytes: UnsafeRawBufferPointer,
        key expected: [UInt8],
        isSealed: Bool
    ) throws(RecordFault) {
        let keyEnd = head.fieldsByteCount + head.keyByteCount
        let key = UnsafeRawBufferPointer(rebasing: bytes[head.fieldsByteCount..<keyEnd])
        let attributes = head.attributesByteCount == 0 ? [] : Array(bytes[keyEnd..<head.byteCount])
        try self.init(
            head,
            key: Self.isKey(key, expected) ? expected : Array(key),
            attributes: attributes[...],
            isSealed: isSealed
        )
    }

    private static func isKey(_ bytes: UnsafeRawBufferPointer, _ key: [UInt8]) -> Bool {
        // Not by `elementsEqual`, which takes each byte from the array.
        key.withUnsafeBytes { key in
            guard key.count == bytes.count, let left = key.baseAddress, let right = bytes.baseAddress else {
                return false
            }
            return memcmp(left, right, key.count) == 0
        }
    }

    /// As above, of bytes in an array.
    init(head bytes: [UInt8], at place: RecordPlace, in form: RecordForm, key: [UInt8] = []) throws(RecordFault) {
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(RecordFault) in try Record(bytes, at: place, in: form, key: key) }
        }.get()
    }

    /// As above, of a whole record.
    ///
    /// - Parameters:
    ///   - bytes: all of the record; an encrypted payload is decrypted where it is.
    ///   - isSound: whether the payload of an entry is the one that was written. Other kinds have none.
    init(
        verifying bytes: inout [UInt8],
        at place: RecordPlace,
        in form: RecordForm,
        key: [UInt8] = [],
        isSound: (Record, [UInt8]) -> Bool
    ) throws(RecordFault) {
        self = try Record(head: bytes, at: place, in: form, key: key)
        guard bytes.count >= byteCount else { throw .incomplete }
        guard bytes.count == byteCount else { throw .damaged }
        guard kind != .entry || openPayload(in: &bytes, form) && isSound(self, bytes) else { throw .damaged }
    }

    /// Decrypts the payload of an entry where it is, if it is encrypted.
    ///
    /// - Parameter bytes: all of the record.
    /// - Returns: whether it is the one that was written, if it is encrypted.
    func openPayload(in bytes: inout [UInt8], _ form: RecordForm) -> Bool {
        guard let sealing = form.sealing else { return true }
        return bytes.withUnsafeMutableBytes { sealing.openPayload(of: $0, headByteCount: headByteCount) }
    }

    /// The checksum of a head at a place of a log. No other place has the same, nor the same place of another log.
    static func checksum(_ head: UnsafeRawBufferPointer, at place: RecordPlace, seed: UInt32) -> UInt32 {
        let salt = withUnsafeBytes(of: place.serial.bigEndian) { Zlib.crc32($0, continuing: seed) }
        let start = RecordHead.checksumOffset + 4
        return Zlib.crc32(UnsafeRawBufferPointer(rebasing: head[start...]), continuing: salt)
    }

    // MARK: Damage

    /// Where the first record at or after `start` may begin: at the next magic; `nil` if there is none in `bytes`.
    static func candidate(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let fields = ByteReader(bytes)
        let first = UInt8(magic >> 8)
        var index = start
        while index + 2 <= bytes.count {
            if bytes[index] == first, fields.number(at: index) == magic { return index }
            index += 1
        }
        return nil
    }

    /// How many bytes have to be checked to find out that a candidate is not a record.
    static func checkedByteCount(in bytes: UnsafeRawBufferPointer, at start: Int, _ form: RecordForm) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        if form.sealing != nil {
            guard rest.count >= RecordSealing.startByteCount else { return largestFieldsByteCount }
            let length = Int(ByteReader(rest).number(at: RecordSealing.lengthOffset, as: UInt16.self))
            return length <= largestHeadByteCount ? max(largestFieldsByteCount, length) : largestFieldsByteCount
        }
        let head = try? RecordHead(rest, at: RecordPlace(segment: 0, offset: 0))
        return max(largestFieldsByteCount, head?.byteCount ?? 0)
    }
}
