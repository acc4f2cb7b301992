/// An open segment: a file of records that is only appended to.
final class Segment: Sendable {
    let number: UInt32
    /// For reading, and for appending where that is allowed.
    let file: OpenFile
    /// What its header says; `nil` if that is damaged.
    let header: SegmentHeader.Fields?
    /// Where records begin; `nil` if the header is damaged.
    let headerByteCount: Int?
    /// The log's, with which the checksums of its records begin.
    let seed: UInt32
    /// The dictionary in its header; `nil` if there is none.
    let dictionary: PresetDictionary?
    private let reservation: DescriptorReservation?

    init(
        number: UInt32,
        file: consuming OpenFile,
        header: SegmentHeader?,
        seed: UInt32,
        dictionary: PresetDictionary?,
        reservation: DescriptorReservation?
    ) {
        self.number = number
        self.file = file
        self.header = header?.fields
        headerByteCount = header?.byteCount
        self.seed = seed
        self.dictionary = dictionary
        self.reservation = reservation
    }

    // MARK: Holes

    /// The block size of most file systems.
    static let blockByteCount = 4_096

    /// Gives back the blocks that a record's payload fills. The payload is not read any more; the head stays.
    func punchHole(in record: Record, at place: RecordPlace) throws(SystemError) {
        let start = Int(place.offset)
        try punchHole(in: start + record.headByteCount..<start + record.byteCount)
    }

    /// Gives back the blocks that a range of bytes fills.
    func punchHole(in range: Range<Int>) throws(SystemError) {
        let block = Self.blockByteCount
        let hole = ((range.lowerBound + block - 1) / block * block, range.upperBound / block * block)
        if hole.0 < hole.1 { try file.punchHole(hole.0..<hole.1) }
    }

    // MARK: File names

    static func fileName(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits + suffix
    }

    /// The number of the segment whose file has this name; `nil` if no store names a file like that.
    static func number(_ fileName: String) -> UInt32? {
        guard fileName.hasSuffix(suffix), fileName.utf8.count == 8 + suffix.utf8.count,
            let number = UInt32(fileName.dropLast(suffix.utf8.count), radix: 16),
            number > 0, number <= largestNumber, Self.fileName(number) == fileName
        else { return nil }
        return number
    }

    private static let suffix = ".segment"
    static let largestNumber: UInt32 = 1 << 28 - 1
}
