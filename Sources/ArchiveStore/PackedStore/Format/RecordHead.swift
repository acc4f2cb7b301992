/// The fields of a record's head, as they stand before its key.
struct RecordHead {
    static let kindMask: UInt8 = 7
    static let expiresFlag: UInt8 = 16
    static let attributesFlag: UInt8 = 32
    static let serialFlag: UInt8 = 64
    static let bareFlag: UInt8 = 128

    static let checksumOffset = 2
    static let kindOffset = 6
    /// Bytes before the length of the key.
    static let startByteCount = 16

    var kind: Record.Kind?
    var isBare = false
    var previousHash: UInt64 = 0
    var previousByteCount: UInt32 = 0
    var keyByteCount = 0
    var payloadChecksum: UInt32 = 0
    var storedAt = 0.0
    var payloadByteCount = 0
    var archiveByteCount = 0
    var expiresAt = Double.infinity
    var attributesByteCount = 0
    var serial: UInt64
    /// All of these fields, and the constant ones.
    var fieldsByteCount = 0

    init(serial: UInt64) { self.serial = serial }

    /// All bytes before the payload.
    var byteCount: Int { fieldsByteCount + keyByteCount + attributesByteCount }

    /// Reads the fields that `bytes` begin with, unchecked but for the lengths of key and attributes.
    init(_ bytes: UnsafeRawBufferPointer, at place: RecordPlace) throws(RecordFault) {
        guard bytes.count >= Self.startByteCount else { throw .incomplete }
        let start = ByteReader(bytes)
        guard start.number(at: 0) == Record.magic else { throw .damaged }
        let flags = bytes[Self.kindOffset]
        let kind = flags & Self.kindMask
        self.kind = Record.Kind(rawValue: kind)
        isBare = flags & Self.bareFlag != 0
        previousHash = KeyDigest.shortened(hash: start.number(at: 5) & (1 << KeyDigest.hashBitCount - 1))
        previousByteCount = start.number(at: 12) & Record.previousByteCountMask
        serial = place.serial

        var fields = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[Self.startByteCount...]))
        func length(_ most: Int) throws(RecordFault) -> Int {
            guard let number = fields.nextVariableLength() else {
                throw fields.restCount < Self.largestLengthByteCount ? .incomplete : .damaged
            }
            guard number <= UInt64(most) else { throw .damaged }
            return Int(number)
        }
        func next<Number: FixedWidthInteger & BitwiseCopyable>(_: Number.Type) throws(RecordFault) -> Number {
            guard let number = fields.next(Number.self) else { throw .incomplete }
            return number
        }
        keyByteCount = try length(StoreKey.largestByteCount)
        if self.kind == .entry {
            payloadChecksum = try next(UInt32.self)
            guard let time = RecordTime.next(&fields) else { throw .incomplete }
            storedAt = time
            payloadByteCount = try length(Int(UInt32.max))
            archiveByteCount = try length(Int(UInt32.max))
            if flags & Self.expiresFlag != 0 { expiresAt = Double(bitPattern: try next(UInt64.self)) }
            if flags & Self.attributesFlag != 0 {
                attributesByteCount = try length(EntryAttributes.largestByteCount)
            }
        }
        if flags & Self.serialFlag != 0 {
            serial = UInt64(try length(Int(UInt32.max))) << 32
            serial |= UInt64(try length(Int(UInt32.max)))
        }
        fieldsByteCount = bytes.count - fields.restCount
    }

    /// More bytes than any length has.
    private static let largestLengthByteCount = 10
}
