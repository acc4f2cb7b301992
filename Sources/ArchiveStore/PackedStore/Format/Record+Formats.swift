import Foundation

// Unsafe code, and why it is sound: parts are taken at lengths that were checked against the number of bytes.

extension Record {
    /// Parses the record that `bytes` begin with, after checking its head, but not its payload.
    ///
    /// - Parameters:
    ///   - seed: the log's.
    ///   - expected: the key that the record may have, which is not copied then.
    init(
        _ bytes: UnsafeRawBufferPointer,
        at place: RecordPlace,
        seed: UInt32,
        key expected: [UInt8] = []
    ) throws(RecordFault) {
        let head = try RecordHead(bytes, at: place)
        guard bytes.count >= head.byteCount else { throw .incomplete }
        let part = UnsafeRawBufferPointer(rebasing: bytes[..<head.byteCount])
        let checksum = Self.checksum(part, at: place, seed: seed)
        guard ByteReader(bytes).number(at: RecordHead.checksumOffset) == checksum else { throw .damaged }
        let keyEnd = head.fieldsByteCount + head.keyByteCount
        let key = UnsafeRawBufferPointer(rebasing: bytes[head.fieldsByteCount..<keyEnd])
        let attributes = head.attributesByteCount == 0 ? [] : Array(bytes[keyEnd..<head.byteCount])
        try self.init(head, key: Self.isKey(key, expected) ? expected : Array(key), attributes: attributes[...])
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
    init(head bytes: [UInt8], at place: RecordPlace, seed: UInt32, key: [UInt8] = []) throws(RecordFault) {
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(RecordFault) in try Record(bytes, at: place, seed: seed, key: key) }
        }.get()
    }

    /// As above, of a whole record.
    ///
    /// - Parameter isSound: whether the payload of an entry is the one that was written. Other kinds have none.
    init(
        verifying bytes: [UInt8],
        at place: RecordPlace,
        seed: UInt32,
        key: [UInt8] = [],
        isSound: (Record) -> Bool
    ) throws(RecordFault) {
        self = try Record(head: bytes, at: place, seed: seed, key: key)
        guard bytes.count >= byteCount else { throw .incomplete }
        guard bytes.count == byteCount, kind != .entry || isSound(self) else { throw .damaged }
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
    static func checkedByteCount(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        let head = try? RecordHead(rest, at: RecordPlace(segment: 0, offset: 0))
        return max(largestFieldsByteCount, head?.byteCount ?? 0)
    }
}
