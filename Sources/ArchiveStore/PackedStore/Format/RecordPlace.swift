/// Where a record begins: in which segment, and how many bytes from its start.
struct RecordPlace: Hashable, Comparable, Sendable {
    /// Segments are numbered from 1 in the order in which they were begun; 28 bits are kept of it.
    let segment: UInt32
    let offset: UInt32

    static func < (one: RecordPlace, other: RecordPlace) -> Bool {
        (one.segment, one.offset) < (other.segment, other.offset)
    }
}

extension RecordPlace {
    /// Identifies the first save at this place: no place is used twice.
    var serial: UInt64 { UInt64(segment) << 32 | UInt64(offset) }
}
