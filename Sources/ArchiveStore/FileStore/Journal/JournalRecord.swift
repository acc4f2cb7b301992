/// One record of a journal: 32 bytes, numbers big-endian.
///
///     0   16  name       the 128 bits of an entry's name
///     16  8   UInt64     kind (4 bits), uses (4 bits), entries (16 bits), bytes (40 bits)
///     24  4   writer     a number that each open store chooses
///     28  4   checksum   CRC-32 of the 28 bytes before
///
/// The first record, and no other one, begins a journal, and has the text `typed-cache logs` for a name.
struct JournalRecord: Hashable {
    enum Kind: UInt8 {
        /// Begins a journal.
        case begun = 1
        /// The name is about to have so many bytes and entries.
        case announced
        /// The name has so many bytes and entries.
        case holds
        /// The name's entry was used so many times more.
        case used
        /// The name's entries are about to be changed, or were changed and this could not be told then.
        case changed
    }

    static let byteCount = 32
    /// More than any file has that a store writes; sums of such numbers do not overflow.
    static let mostBytes = 1 << 35
    static let mostEntries = 0xFFFF

    let kind: Kind
    let name: EntryName
    let byteCount: Int
    let count: Int
    let uses: UInt8
    let writer: UInt32

    init(_ kind: Kind, of name: EntryName, _ size: NameSize = .zero, uses: UInt8 = 0, writer: UInt32) {
        self.kind = kind
        self.name = name
        byteCount = min(size.byteCount, Self.mostBytes)
        count = min(size.count, Self.mostEntries)
        self.uses = min(uses, 15)
        self.writer = writer
    }

    /// The record that begins a journal.
    static func beginning(writer: UInt32) -> JournalRecord { JournalRecord(.begun, of: title, writer: writer) }

    private static let title = EntryName(high: 0x7479_7065_642d_6361, low: 0x6368_6520_6c6f_6773)

    var isBeginning: Bool { kind == .begun && name == Self.title }

    var size: NameSize { NameSize(byteCount: byteCount, count: count) }

    /// `nil` if the bytes are not a record.
    init?(_ bytes: ArraySlice<UInt8>) {
        let fields = ByteReader(bytes)
        guard bytes.count == Self.byteCount,
            fields.number(at: 28) == bytes.dropLast(4).withUnsafeBytes({ Zlib.crc32($0) })
        else { return nil }
        let word = fields.number(at: 16, as: UInt64.self)
        guard let kind = Kind(rawValue: UInt8(word >> 60)) else { return nil }
        self.kind = kind
        name = EntryName(bytes)
        uses = UInt8(word >> 56 & 0xF)
        count = Int(word >> 40 & 0xFFFF)
        byteCount = Int(word & 0xFF_FFFF_FFFF)
        writer = fields.number(at: 24)
        guard byteCount <= Self.mostBytes else { return nil }
    }

    /// Adds the record's bytes to `output`.
    func write(to output: inout [UInt8]) {
        let start = output.count
        let word =
            UInt64(kind.rawValue) << 60 | UInt64(uses) << 56 | UInt64(count) << 40 | UInt64(byteCount)
        name.write(to: &output)
        output.append(bigEndian: word)
        output.append(bigEndian: writer)
        let checksum = output.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0[start...])) }
        output.append(bigEndian: checksum)
    }

    static func bytes(_ records: some Sequence<JournalRecord>) -> [UInt8] {
        var bytes: [UInt8] = []
        for record in records { record.write(to: &bytes) }
        return bytes
    }
}

/// The size of the entries of one name: mostly one file, more only if keys share the name.
struct NameSize: Hashable {
    static let zero = NameSize(byteCount: 0, count: 0)
    static let unlimited = NameSize(byteCount: .max, count: .max)

    var byteCount: Int
    var count: Int
}
