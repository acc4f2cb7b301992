/// Reads a binary property list where it lies: nothing is decoded that is not asked for.
///
/// Every offset, count and reference is checked against the bytes that are there before it is used, so no
/// input can make it read outside them or allocate more than they pay for. The layout is drawn on top of
/// `BinaryPropertyListWriter`.
struct BinaryPropertyList: Sendable, BitwiseCopyable {
    /// An object's number.
    typealias Reference = Int

    /// An object of the list. Ranges and starts are byte offsets.
    enum Object {
        case null
        case bool(Bool)
        case integer(Int64)
        case unsigned(UInt64)
        case float(Float)
        case double(Double)
        case date(Double)
        case data(Range<Int>)
        case ascii(Range<Int>)
        case utf16(Range<Int>)
        case uid(UInt32)
        case array(References)
        case set(References)
        case dictionary(Fields)
    }

    /// A run of references.
    struct References: BitwiseCopyable {
        let start: Int
        let count: Int
    }

    /// A dictionary's keys, followed by its values.
    struct Fields: BitwiseCopyable {
        let start: Int
        let count: Int
    }

    let bytes: ArchiveBytes
    let objectCount: Int
    let top: Reference
    let offsetWidth: Int
    let referenceWidth: Int
    /// Where the offset table begins: objects end before it.
    let table: Int

    static let magic: [UInt8] = Array("bplist".utf8)
    private static let headerLength = 8
    private static let trailerLength = 32

    /// Has `body` read a list where its bytes are. The list must not leave it.
    static func reading<Result>(
        _ bytes: [UInt8],
        _ body: (BinaryPropertyList) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        try bytes.withUnsafeBufferPointer { buffer throws(ArchiveError) in
            try body(BinaryPropertyList(ArchiveBytes(borrowing: buffer)))
        }
    }

    /// Checks the header and the trailer. O(1).
    init(_ bytes: ArchiveBytes) throws(ArchiveError) {
        // The magic bytes, `bplist`.
        guard bytes.count >= 8, bytes.bigEndian(0, 6) == 0x62_70_6C_69_73_74 else {
            throw ArchiveError(.unknownFormat, "not a binary property list", offset: 0)
        }
        let trailer = bytes.count - Self.trailerLength
        guard trailer >= Self.headerLength else {
            throw ArchiveError(.corrupted, "truncated before the trailer", offset: bytes.count)
        }
        guard bytes[6] == 0x30 else {
            throw ArchiveError(.unsupportedFormat, "binary property list of an unknown version", offset: 6)
        }
        self.bytes = bytes
        offsetWidth = Int(bytes[trailer + 6])
        referenceWidth = Int(bytes[trailer + 7])
        let count = bytes.bigEndian(trailer + 8, 8)
        let top = bytes.bigEndian(trailer + 16, 8)
        let table = bytes.bigEndian(trailer + 24, 8)
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth) else {
            throw ArchiveError(.corrupted, "trailer with impossible widths", offset: trailer + 6)
        }
        let (length, overflow) = count.multipliedReportingOverflow(by: UInt64(offsetWidth))
        guard !overflow, table >= UInt64(Self.headerLength), table <= UInt64(trailer),
            length == UInt64(trailer) - table
        else {
            throw ArchiveError(.corrupted, "offset table does not fit the file", offset: trailer + 8)
        }
        guard top < count else {
            throw ArchiveError(.corrupted, "top object out of range", offset: trailer + 16)
        }
        objectCount = Int(count)
        self.top = Int(top)
        self.table = Int(table)
    }

    // MARK: Objects

    /// Where an object begins.
    @inline(__always)
    func offset(of reference: Reference) throws(ArchiveError) -> Int {
        if let offset = knownOffset(of: reference) { return offset }
        throw misplaced(reference)
    }

    /// Where an object begins; `nil` if `offset(of:)` throws.
    @inline(__always)
    func knownOffset(of reference: Reference) -> Int? {
        guard reference >= 0, reference < objectCount else { return nil }
        let offset = bytes.bigEndian(table &+ reference &* offsetWidth, offsetWidth)
        guard offset >= UInt64(Self.headerLength), offset < UInt64(table) else { return nil }
        return Int(truncatingIfNeeded: offset)
    }

    @inline(never)
    private func misplaced(_ reference: Reference) -> ArchiveError {
        guard reference >= 0, reference < objectCount else {
            return ArchiveError(.corrupted, "reference to object \(reference) of \(objectCount)")
        }
        return ArchiveError(
            .corrupted,
            "object \(reference) lies outside the file",
            offset: table + reference * offsetWidth
        )
    }

    func object(_ reference: Reference) throws(ArchiveError) -> Object {
        let offset = try offset(of: reference)
        let marker = bytes[offset]
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0:
            switch low {
            case 0x0: return .null
            case 0x8: return .bool(false)
            case 0x9: return .bool(true)
            default: throw unknownMarker(marker, offset)
            }
        case 0x1:
            return try integer(offset)
        case 0x2:
            switch low {
            case 2:
                let pattern = try number(offset + 1, 4)
                return .float(Float(bitPattern: UInt32(truncatingIfNeeded: pattern)))
            case 3: return .double(Double(bitPattern: try number(offset + 1, 8)))
            default: throw unknownMarker(marker, offset)
            }
        case 0x3:
            guard low == 3 else { throw unknownMarker(marker, offset) }
            return .date(Double(bitPattern: try number(offset + 1, 8)))
        case 0x4: return .data(try run(offset, unit: 1))
        case 0x5: return .ascii(try run(offset, unit: 1))
        case 0x6: return .utf16(try run(offset, unit: 2))
        case 0x8: return .uid(try uid(offset, width: low + 1))
        case 0xA:
            let (start, count) = try counted(offset, unit: referenceWidth)
            return .array(References(start: start, count: count))
        case 0xC:
            let (start, count) = try counted(offset, unit: referenceWidth)
            return .set(References(start: start, count: count))
        case 0xD:
            let (start, count) = try counted(offset, unit: 2 &* referenceWidth)
            return .dictionary(Fields(start: start, count: count))
        default:
            throw unknownMarker(marker, offset)
        }
    }

    /// The UID that an object is, or `nil` if it is something else.
    func uid(_ reference: Reference) throws(ArchiveError) -> UInt32? {
        let offset = try offset(of: reference)
        guard bytes[offset] >> 4 == 0x8 else { return nil }
        return try uid(offset, width: Int(bytes[offset] & 0x0F) + 1)
    }

    /// The dictionary that an object is, or `nil` if it is something else.
    func fields(_ reference: Reference) throws(ArchiveError) -> Fields? {
        let offset = try offset(of: reference)
        guard bytes[offset] >> 4 == 0xD else { return nil }
        let (start, count) = try counted(offset, unit: 2 &* referenceWidth)
        return Fields(start: start, count: count)
    }

    /// How many bytes of text an object of a usual kind has, 0 for a number or a UID; `nil` leaves the question open:
    /// the object is of another kind, or damaged.
    ///
    /// - Parameter objectCount: UIDs are below.
    @inline(__always)
    func byteCountIfSound(_ reference: Reference, objectCount: Int) -> Int? {
        guard let offset = knownOffset(of: reference) else { return nil }
        let head = bytes.bigEndian(offset, 8)
        let low = Int(truncatingIfNeeded: head &>> 56) & 0x0F
        switch head &>> 60 {
        case 0x0: return low == 0 || low == 8 || low == 9 ? 0 : nil
        case 0x1: return low <= 3 && offset &+ 1 &+ 1 &<< low <= table ? 0 : nil
        case 0x2: return low == 2 || low == 3 ? (offset &+ 1 &+ 1 &<< low <= table ? 0 : nil) : nil
        case 0x5:
            if low < 15 { return isShortASCII(head: head, at: offset) ? low : nil }
            // Longer texts of up to 255 characters have their number in one byte.
            let range = offset &+ 3..<offset &+ 3 &+ Int(truncatingIfNeeded: head &>> 40) & 0xFF
            guard head &>> 48 == 0x5F10, range.upperBound <= table, bytes.withBytes(in: range, isASCII) else {
                return nil
            }
            return range.count
        case 0x6:
            guard low < 15 || head &>> 48 == 0x6F10 else { return nil }
            let start = low < 15 ? offset &+ 1 : offset &+ 3
            let count = low < 15 ? low : Int(truncatingIfNeeded: head &>> 40) & 0xFF
            let range = start..<start &+ 2 &* count
            return range.upperBound <= table && bytes.withBytes(in: range, hasNoSurrogates) ? range.count : nil
        case 0x8:
            guard low <= 1, offset &+ 2 &+ low <= table else { return nil }
            return Int(truncatingIfNeeded: (head &<< 8) &>> (56 &- 8 &* UInt64(low))) < objectCount ? 0 : nil
        default: return nil
        }
    }

    // MARK: Containers

    /// - Precondition: `index` is below the run's count.
    func element(_ run: References, _ index: Int) -> Reference {
        reference(at: run.start &+ index &* referenceWidth)
    }

    /// - Precondition: `index` is below the dictionary's count.
    func key(_ fields: Fields, _ index: Int) -> Reference {
        reference(at: fields.start &+ index &* referenceWidth)
    }

    /// - Precondition: `index` is below the dictionary's count.
    func value(_ fields: Fields, _ index: Int) -> Reference {
        reference(at: fields.start &+ (fields.count &+ index) &* referenceWidth)
    }

    // Unchecked arithmetic above: a run lies within the file, and each read is checked once more.
    @inline(__always)
    private func reference(at offset: Int) -> Reference {
        // Out-of-range numbers of 8 bytes are clamped; `offset(of:)` refuses them.
        Int(clamping: bytes.bigEndian(offset, referenceWidth))
    }

    // MARK: Bytes

    @inline(never)
    private func unknownMarker(_ marker: UInt8, _ offset: Int) -> ArchiveError {
        ArchiveError(.corrupted, "unknown marker 0x\(String(marker, radix: 16))", offset: offset)
    }

    private func integer(_ offset: Int) throws(ArchiveError) -> Object {
        let power = Int(bytes[offset] & 0x0F)
        guard power <= 4 else { throw unknownMarker(bytes[offset], offset) }
        if power < 4 { return .integer(Int64(bitPattern: try number(offset + 1, 1 << power))) }
        let high = Int64(bitPattern: try number(offset + 1, 8))
        let low = try number(offset + 9, 8)
        if high == 0 { return Int64(exactly: low).map { .integer($0) } ?? .unsigned(low) }
        if high == -1, low >> 63 == 1 { return .integer(Int64(bitPattern: low)) }
        throw ArchiveError(.outOfRange, "integer wider than 64 bits", offset: offset)
    }

    @inline(__always)
    private func uid(_ offset: Int, width: Int) throws(ArchiveError) -> UInt32 {
        guard offset &+ 1 &+ width <= table else { throw truncated(offset) }
        if width <= 4 { return UInt32(truncatingIfNeeded: bytes.bigEndian(offset &+ 1, width)) }
        return try wideUID(offset, width: width)
    }

    private func wideUID(_ offset: Int, width: Int) throws(ArchiveError) -> UInt32 {
        let end = offset + 1 + width
        for at in offset + 1..<end - 4 where bytes[at] != 0 {
            throw ArchiveError(.corrupted, "UID above the format's range", offset: offset)
        }
        return UInt32(truncatingIfNeeded: bytes.bigEndian(end - 4, 4))
    }

    /// The bytes of a counted object.
    @inline(__always)
    func run(_ offset: Int, unit: Int) throws(ArchiveError) -> Range<Int> {
        let (start, count) = try counted(offset, unit: unit)
        return Range(uncheckedBounds: (start, start &+ count &* unit))
    }

    /// Where the contents of a counted object begin, and how many of `unit` bytes it has, which are there.
    ///
    /// The count stands in the marker or in an integer after it.
    @inline(__always)
    private func counted(_ offset: Int, unit: Int) throws(ArchiveError) -> (start: Int, count: Int) {
        let count = Int(bytes[offset] & 0x0F)
        guard count < 15 else { return try longCounted(offset, unit: unit) }
        let start = offset &+ 1
        guard count &* unit <= table &- start else { throw truncated(offset) }
        return (start, count)
    }

    private func longCounted(_ offset: Int, unit: Int) throws(ArchiveError) -> (start: Int, count: Int) {
        let start = offset + 1
        guard start < table else { throw truncated(offset) }
        guard bytes[start] >> 4 == 0x1, bytes[start] & 0x0F <= 3 else {
            throw ArchiveError(.corrupted, "count that is not an integer", offset: start)
        }
        let width = 1 << Int(bytes[start] & 0x0F)
        let count = try number(start + 1, width)
        let first = start + 1 + width
        let (length, overflow) = count.multipliedReportingOverflow(by: UInt64(unit))
        guard !overflow, length <= UInt64(table - first) else { throw truncated(offset) }
        return (first, Int(count))
    }

    @inline(__always)
    private func number(_ offset: Int, _ width: Int) throws(ArchiveError) -> UInt64 {
        guard offset &+ width <= table else { throw truncated(offset) }
        return bytes.bigEndian(offset, width)
    }

    @inline(never)
    private func truncated(_ offset: Int) -> ArchiveError {
        ArchiveError(.corrupted, "object reaches beyond the file's objects", offset: offset)
    }
}
