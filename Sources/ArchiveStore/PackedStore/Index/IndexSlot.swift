/// The place of a key's entry, in 32 bytes. The key itself is in the record.
struct IndexSlot: Sendable, Equatable {
    /// The first 48 bits of the key's digest, which are in the records as well.
    let hash: UInt64
    /// The other 24 bits; 0 for a lost record, of which only the hash is known.
    let check: UInt32
    /// 28 bits of the segment's number, 32 of the offset, 4 for `uses` and `isTagged`.
    private var packedPlace: UInt64
    /// Length of the whole record; never 0.
    let byteCount: UInt32
    /// See ``Record/deadline(_:)``.
    let deadline: UInt32

    init(_ digest: KeyDigest, place: RecordPlace, byteCount: Int, deadline: UInt32, isTagged: Bool) {
        hash = digest.high
        check = UInt32(truncatingIfNeeded: digest.low)
        packedPlace = UInt64(place.segment) << 36 | UInt64(place.offset) << 4
        self.byteCount = UInt32(byteCount)
        self.deadline = deadline
        if isTagged { packedPlace |= Self.tagBit }
    }

    init(_ record: Record, _ digest: KeyDigest, place: RecordPlace) {
        self.init(
            digest,
            place: place,
            byteCount: record.byteCount,
            deadline: Record.deadline(record.attributes),
            isTagged: !record.attributes.tags.isEmpty
        )
    }

    /// A free position in a table.
    static let empty = IndexSlot()

    private init() {
        hash = 0
        check = 0
        packedPlace = 0
        byteCount = 0
        deadline = 0
    }

    private static let tagBit: UInt64 = 4
    /// The most uses that count.
    static let mostUses: UInt8 = 3

    var isEmpty: Bool { byteCount == 0 }

    var digest: KeyDigest { KeyDigest(high: hash, low: UInt64(check)) }

    /// Whether only the hash of the key's digest is known.
    var isVague: Bool { check == 0 }

    var place: RecordPlace {
        RecordPlace(segment: UInt32(packedPlace >> 36), offset: UInt32(truncatingIfNeeded: packedPlace >> 4))
    }

    /// Whether the entry has tags.
    var isTagged: Bool { packedPlace & Self.tagBit != 0 }

    /// Number of fetches since eviction last looked at the entry, up to ``mostUses``.
    var uses: UInt8 {
        get { UInt8(packedPlace & 3) }
        set { packedPlace = packedPlace & ~3 | UInt64(min(newValue, Self.mostUses)) }
    }

    /// - Parameter byteCount: of the record there, which may have been compressed again.
    func moved(to place: RecordPlace, byteCount: Int) -> IndexSlot {
        IndexSlot(digest, place: place, byteCount: byteCount, deadline: deadline, isTagged: isTagged)
    }
}
