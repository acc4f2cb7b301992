/// The bytes of one part of the index: slots in the order of their places, each by its distance from the one before.
///
///      …  length and flags   variable length: of the record times 32; 16: in the same segment as the slot before; 8: has
///                            a deadline; 4: has tags; 0 to 3: uses
///      …  segment            variable length, numbers after the slot before; only where it is another segment
///      …  offset             variable length, bytes after that of the slot before; in another segment, from its start
///      5  hash               all but its first byte, which is the number of the part
///      3  check              24 bits, the rest of the key's digest; 0: only the hash is known
///      4  deadline           UInt32; only where there is one
enum IndexPart {
    /// The most bytes of a slot.
    private static let largestByteCount = 6 + 5 + 5 + 5 + 3 + 4
    /// About how many bytes a slot takes.
    static let usualByteCount = 16

    private static let sameSegmentFlag: UInt64 = 16
    private static let deadlineFlag: UInt64 = 8
    private static let tagFlag: UInt64 = 4

    /// - Parameter slots: of one part, in the order of their places.
    static func bytes(of slots: [IndexSlot]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(slots.count * usualByteCount)
        var last = RecordPlace(segment: 0, offset: 0)
        for slot in slots {
            let place = slot.place
            var head = UInt64(slot.byteCount) << 5 | UInt64(slot.uses)
            if place.segment == last.segment { head |= sameSegmentFlag }
            if slot.deadline != .max { head |= deadlineFlag }
            if slot.isTagged { head |= tagFlag }
            bytes.append(variableLength: head)
            if place.segment != last.segment {
                bytes.append(variableLength: UInt64(place.segment - last.segment))
                last = RecordPlace(segment: place.segment, offset: 0)
            }
            bytes.append(variableLength: UInt64(place.offset - last.offset))
            last = place
            bytes.append(UInt8(truncatingIfNeeded: slot.hash >> 32))
            bytes.append(bigEndian: UInt32(truncatingIfNeeded: slot.hash))
            bytes.append(UInt8(truncatingIfNeeded: slot.check >> 16))
            bytes.append(bigEndian: UInt16(truncatingIfNeeded: slot.check))
            if slot.deadline != .max { bytes.append(bigEndian: slot.deadline) }
        }
        return bytes
    }

    /// Reads slots from bytes that come in pieces.
    struct Decoder {
        private let part: UInt64
        private var last = RecordPlace(segment: 0, offset: 0)
        private var rest: [UInt8] = []
        /// How many slots were read.
        private(set) var count = 0

        init(part: Int) { self.part = UInt64(part) }

        /// Reads the slots of the next piece.
        ///
        /// - Parameter isLast: whether no piece follows: then all bytes must belong to slots.
        /// - Returns: false if the bytes are no slots.
        mutating func read(_ piece: [UInt8], isLast: Bool, _ body: (IndexSlot) -> Void) -> Bool {
            let bytes = rest.isEmpty ? piece : rest + piece
            rest = []
            // Where they lie: each look at an array that is read field by field checks it once more.
            let unread = bytes.withUnsafeBytes { bytes -> Int? in
                var fields = ByteReader(bytes)
                while !fields.isAtEnd {
                    if !isLast, fields.restCount < largestByteCount { break }
                    guard let slot = next(&fields) else { return nil }
                    count += 1
                    body(slot)
                }
                return fields.restCount
            }
            guard let unread else { return false }
            if unread > 0 { rest = Array(bytes.suffix(unread)) }
            return true
        }

        private mutating func next(_ fields: inout ByteReader<UnsafeRawBufferPointer>) -> IndexSlot? {
            guard let head = fields.nextVariableLength(), let byteCount = UInt32(exactly: head >> 5), byteCount > 0
            else { return nil }
            if head & sameSegmentFlag == 0 {
                guard let step = fields.nextVariableLength(), step <= Segment.largestNumber - last.segment else {
                    return nil
                }
                last = RecordPlace(segment: last.segment + UInt32(step), offset: 0)
            }
            guard let step = fields.nextVariableLength(), step <= UInt32.max - last.offset,
                // The hash and the check.
                let word = fields.next(UInt64.self)
            else { return nil }
            last = RecordPlace(segment: last.segment, offset: last.offset + UInt32(step))
            var deadline = UInt32.max
            if head & deadlineFlag != 0 {
                guard let given = fields.next(UInt32.self) else { return nil }
                deadline = given
            }
            let digest = KeyDigest(
                high: part << 40 | word >> 24,
                low: word & 0xFF_FFFF
            )
            var slot = IndexSlot(
                digest,
                place: last,
                byteCount: Int(byteCount),
                deadline: deadline,
                isTagged: head & tagFlag != 0
            )
            slot.uses = UInt8(head & 3)
            return slot
        }
    }
}
