import Foundation

// Objects in the forms that nearly all have, found by one look at their first bytes: without an `Object`, which is returned
// by way of memory, and without a closure.
//
// Each `nil` and `false` leaves the question open: an object of another form, or a damaged one, on which the general ways
// decide. Why the reads are safe: each is checked against the bytes that are there, and eight bytes follow every offset of
// an object, since the trailer comes after.
extension BinaryPropertyList {
    /// The bytes of a text of up to 255 characters, which its marker says is ASCII; unchecked.
    @inline(__always)
    func usualText(_ reference: Reference) -> Range<Int>? {
        guard let offset = knownOffset(of: reference) else { return nil }
        let head = bytes.bigEndian(offset, 8)
        guard head &>> 60 == 0x5 else { return nil }
        var start = offset &+ 1
        var count = Int(truncatingIfNeeded: head &>> 56) & 0x0F
        if count == 15 {
            // Their number stands in one byte.
            guard head &>> 48 == 0x5F10 else { return nil }
            start = offset &+ 3
            count = Int(truncatingIfNeeded: head &>> 40) & 0xFF
        }
        let end = start &+ count
        return end <= table ? Range(uncheckedBounds: (start, end)) : nil
    }

    /// The text of up to 255 ASCII characters that an object is, but the one that stands for nil.
    @inline(__always)
    func usualString(_ reference: Reference) throws(ArchiveError) -> String? {
        guard let range = usualText(reference), !isNull(text: range) else { return nil }
        return try string(ascii: range)
    }

    /// Whether an object is a number, a Boolean, or a text other than the one that stands for nil.
    func isUsualValue(_ reference: Reference) -> Bool {
        usualNumber(reference) != nil || usualText(reference).map { !isNull(text: $0) } ?? false
    }

    /// Whether a usual text is the one that stands for nil.
    @inline(__always)
    private func isNull(text range: Range<Int>) -> Bool {
        // Its five bytes, and three after it.
        range.count == 5 && bytes.bigEndian(range.lowerBound, 8) &>> 24 == 0x24_6E_75_6C_6C
    }

    /// The UUID that 16 bytes are.
    func usualUUID(_ reference: Reference) -> UUID? {
        guard let offset = knownOffset(of: reference), offset &+ 19 <= table,
            bytes.bigEndian(offset, 3) == 0x4F_10_10
        else { return nil }
        return bytes.withBytes(in: offset &+ 3..<offset &+ 19) {
            UUID(uuid: UnsafeRawBufferPointer($0).loadUnaligned(as: uuid_t.self))
        }
    }

    /// A Boolean, an integer of up to eight bytes, or a `Double`.
    @inline(__always)
    func usualNumber(_ reference: Reference) -> ArchivedNumber? {
        guard let offset = knownOffset(of: reference) else { return nil }
        let marker = bytes[offset]
        switch marker {
        case 0x08: return .bool(false)
        case 0x09: return .bool(true)
        case 0x10...0x13:
            let width = 1 &<< Int(marker & 0x03)
            guard offset &+ 1 &+ width <= table else { return nil }
            return .integer(Int64(bitPattern: bytes.bigEndian(offset &+ 1, width)))
        case 0x23:
            guard offset &+ 9 <= table else { return nil }
            return .double(Double(bitPattern: bytes.bigEndian(offset &+ 1, 8)))
        default: return nil
        }
    }

    /// The name in the dictionary of a class, as archivers write it: the first of two fields.
    func usualClassName(_ reference: Reference) -> Range<Int>? {
        guard let offset = knownOffset(of: reference), bytes[offset] == 0xD2 else { return nil }
        let fields = Fields(start: offset &+ 1, count: 2)
        guard isShortASCII(key(fields, 0), "$classname") else { return nil }
        return usualText(value(fields, 0))
    }

    /// Whether these bytes are the text `text`.
    func hold(_ text: String, in range: Range<Int>) -> Bool {
        bytes.withBytes(in: range) { bytes in
            text.utf8.withContiguousStorageIfAvailable { haveSameBytes($0, bytes) } ?? false
        }
    }
}
