import Foundation

/// How the two formats of a record differ, besides their heads.
private struct RecordFormat {
    /// Where the head's checksum stands; the bytes behind it are checked by it.
    let checksumOffset: Int
    let kindOffset: Int
    /// The kind of an entry that was turned into a removal where it stands.
    let removedEntryKind: UInt8
    let kindMask: UInt8

    static let present = RecordFormat(
        checksumOffset: 2,
        kindOffset: RecordHead.kindOffset,
        removedEntryKind: RecordHead.removedEntryKind,
        kindMask: RecordHead.kindMask
    )
    static let former = RecordFormat(
        checksumOffset: 4,
        kindOffset: 12,
        removedEntryKind: Record.Kind.removal.rawValue,
        kindMask: .max
    )

    static func of(_ first: UInt8) -> RecordFormat {
        first == FormerRecord.firstByte ? .former : .present
    }
}

// Unsafe code, and why it is sound: parts are taken at lengths that were checked against the number of bytes.

extension Record {
    /// Parses the record that `bytes` begin with, after checking its head, but not its payload.
    ///
    /// - Parameter expected: the key that the record may have, which is not copied then.
    init(_ bytes: UnsafeRawBufferPointer, at place: RecordPlace, key expected: [UInt8] = []) throws(RecordFault) {
        let head = try Self.head(bytes, at: place)
        guard bytes.count >= head.byteCount else { throw .incomplete }
        let offset = RecordFormat.of(bytes[0]).checksumOffset
        let checksum = Self.checksum(UnsafeRawBufferPointer(rebasing: bytes[..<head.byteCount]), at: place)
        guard ByteReader(bytes).number(at: offset) == checksum else { throw .damaged }
        let keyEnd = head.fieldsByteCount + head.keyByteCount
        let key = UnsafeRawBufferPointer(rebasing: bytes[head.fieldsByteCount..<keyEnd])
        let attributes = head.attributesByteCount == 0 ? [] : Array(bytes[keyEnd..<head.byteCount])
        try self.init(head, key: key.elementsEqual(expected) ? expected : Array(key), attributes: attributes[...])
    }

    /// The fields of the head that `bytes` begin with, in either format, unchecked.
    private static func head(
        _ bytes: UnsafeRawBufferPointer,
        at place: RecordPlace
    ) throws(RecordFault) -> RecordHead {
        guard let first = bytes.first else { throw .incomplete }
        return first == FormerRecord.firstByte ? try FormerRecord.head(bytes) : try RecordHead(bytes, at: place)
    }

    /// As above, of bytes in an array.
    init(head bytes: [UInt8], at place: RecordPlace, key: [UInt8] = []) throws(RecordFault) {
        self = try bytes.withUnsafeBytes { bytes in
            Result { () throws(RecordFault) in try Record(bytes, at: place, key: key) }
        }.get()
    }

    /// As above, of a whole record.
    ///
    /// - Parameter isSound: whether the payload of an entry is the one that was written. Payloads of other kinds are not
    ///   needed, and their blocks may have been given back.
    init(
        verifying bytes: [UInt8],
        at place: RecordPlace,
        key: [UInt8] = [],
        isSound: (Record) -> Bool
    ) throws(RecordFault) {
        self = try Record(head: bytes, at: place, key: key)
        guard bytes.count >= byteCount else { throw .incomplete }
        guard bytes.count == byteCount, kind != .entry || isSound(self) else { throw .damaged }
    }

    /// The head of this record, an entry's, as that of a removal at its place.
    ///
    /// - Parameter bytes: at least those of the head.
    func headAsRemoval(_ bytes: [UInt8], at place: RecordPlace) -> [UInt8] {
        var head = Array(bytes[..<headByteCount])
        let format = RecordFormat.of(head[0])
        head[format.kindOffset] = head[format.kindOffset] & ~format.kindMask | format.removedEntryKind
        head.withUnsafeMutableBytes { head in
            let checksum = Self.checksum(UnsafeRawBufferPointer(head), at: place)
            ByteWriter(head).store(checksum, at: format.checksumOffset)
        }
        return head
    }

    /// The checksum of a head at a place.
    static func checksum(_ head: UnsafeRawBufferPointer, at place: RecordPlace) -> UInt32 {
        let salt = withUnsafeBytes(of: place.serial.bigEndian) { Zlib.crc32($0) }
        let start = RecordFormat.of(head[0]).checksumOffset + 4
        return Zlib.crc32(UnsafeRawBufferPointer(rebasing: head[start...]), continuing: salt)
    }

    // MARK: Damage

    /// Whether the bytes are a seal's, or would be with one byte changed: they have its kind, or no key, and are not the
    /// beginning of another record without one.
    static func isNearlySeal(_ head: [UInt8]) -> Bool {
        guard head.count == leastByteCount else { return FormerRecord.isNearlySeal(head) }
        let flags = head[RecordHead.kindOffset] & ~RecordHead.firstFlag
        if flags == Kind.seal.rawValue { return true }
        let others = [Kind.floor, .loss].map { $0.rawValue | RecordHead.serialFlag }
        return head[RecordHead.startByteCount] == 0 && !others.contains(flags)
    }

    /// How many bytes a seal has, in either format.
    static let sealByteCounts = [leastByteCount, FormerRecord.byteCount]

    /// Where the first record at or after `start` may begin: at the next magic; `nil` if there is none in `bytes`.
    static func candidate(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let fields = ByteReader(bytes)
        let (first, former) = (UInt8(magic >> 8), FormerRecord.firstByte)
        var index = start
        while index + 2 <= bytes.count {
            let byte = bytes[index]
            if byte == first, fields.number(at: index) == magic { return index }
            let isFormer = byte == former && index + 4 <= bytes.count
            if isFormer, fields.number(at: index) == FormerRecord.magic { return index }
            index += 1
        }
        return nil
    }

    /// Whether the bytes begin with a head whose lengths may be right.
    static func hasHead(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { (try? head($0, at: RecordPlace(segment: 0, offset: 0))) != nil }
    }

    /// How many bytes have to be checked to find out that a candidate is no record.
    static func checkedByteCount(in bytes: UnsafeRawBufferPointer, at start: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        let head = try? Self.head(rest, at: RecordPlace(segment: 0, offset: 0))
        return max(largestFieldsByteCount, head?.byteCount ?? 0)
    }
}
