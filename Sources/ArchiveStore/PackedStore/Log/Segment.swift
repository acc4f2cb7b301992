/// An open segment: a file of records that is only appended to.
final class Segment: Sendable {
    let number: UInt32
    /// For reading, and for appending where that is allowed.
    let file: OpenFile
    /// The contents of its header; `nil` if that is damaged.
    let header: SegmentHeader.Fields?
    /// Where records begin; `nil` if the header is damaged.
    let headerByteCount: Int?
    /// How its records are written and read.
    let form: RecordForm
    /// The dictionary in its header; `nil` if there is none.
    let dictionary: PresetDictionary?
    private let reservation: DescriptorReservation?

    init(
        number: UInt32,
        file: consuming OpenFile,
        header: SegmentHeader?,
        form: RecordForm,
        dictionary: PresetDictionary?,
        reservation: DescriptorReservation?
    ) {
        self.number = number
        self.file = file
        self.header = header?.fields
        headerByteCount = header?.byteCount
        self.form = form
        self.dictionary = dictionary
        self.reservation = reservation
    }

    /// The block size of most file systems.
    static let blockByteCount = 4_096

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
