import Foundation

/// The file `index` of a packed store: where every entry was when the log had come to some position.
///
///      0   4  magic              54 43 50 49, "TCPI"
///      4   4  checksum           CRC-32 of bytes 8 to the first part
///      8   2  version            UInt16, 1
///     10   2  dictionaries       UInt16, N, their number
///     12   8  position           UInt32 segment, UInt32 offset: later records may or may not be in here
///     20   8  serial             UInt64, the last one
///     28   4  previous length    UInt32, of the record before the position
///     32   8  previous hash      of its key
///     40 8·256 parts             UInt32 number of slots, UInt32 CRC-32 of their bytes
///          …  dictionaries       UInt32 length, then the bytes, N times
///          …  slots              32 bytes each, part after part: digest of the key, place and flags (see
///                                `IndexSlot`), UInt32 length of the record, UInt32 deadline
///
/// Numbers are big-endian. If the file is missing or damaged, nothing is lost: the index is rebuilt from the segments.
/// A record that it names is checked when it is read.
final class IndexSnapshot: Sendable {
    static let fileName = "index"
    private static let magic: UInt32 = 0x5443_5049
    private static let version: UInt16 = 1
    private static let fixedByteCount = 40
    private static let directoryByteCount = fixedByteCount + 8 * PackedIndex.partCount
    private static let mostDictionaries = 64

    let position: RecordPlace
    let serial: UInt64
    let previous: PreviousRecord?
    let dictionaries: [[UInt8]]
    private let file: OpenFile
    private let parts: [(count: Int, checksum: UInt32, offset: Int)]

    /// Opens the snapshot in `root`; `nil` if there is none that can be used.
    init?(in root: Directory) throws(SystemError) {
        let file: OpenFile
        do {
            file = try root.file(Self.fileName)
        } catch {
            if error.isMissing || error.isSymbolicLink || error.isNotRegular { return nil }
            throw error
        }
        let status = try file.status()
        guard status.isRegular, let header = try Self.header(of: file) else { return nil }
        let fields = ByteReader(header)
        position = RecordPlace(segment: fields.number(at: 12), offset: fields.number(at: 16))
        serial = fields.number(at: 20)
        let previousByteCount = Int(fields.number(at: 28, as: UInt32.self))
        previous =
            previousByteCount == 0
            ? nil : PreviousRecord(byteCount: previousByteCount, hash: fields.number(at: 32))
        var parts: [(count: Int, checksum: UInt32, offset: Int)] = []
        var offset = header.count
        for part in 0..<PackedIndex.partCount {
            let start = Self.fixedByteCount + part * 8
            let count = Int(fields.number(at: start, as: UInt32.self))
            parts.append((count, fields.number(at: start + 4), offset))
            offset += count * IndexSlot.encodedByteCount
        }
        guard offset == status.byteCount else { return nil }
        var dictionaries: [[UInt8]] = []
        var rest = ByteReader(header[Self.directoryByteCount...])
        while let count = rest.next(UInt32.self), let dictionary = rest.next(byteCount: Int(count)) {
            dictionaries.append(Array(dictionary))
        }
        self.dictionaries = dictionaries
        self.parts = parts
        self.file = file
    }

    /// All bytes before the first slot, checked; `nil` if they are not sound.
    private static func header(of file: borrowing OpenFile) throws(SystemError) -> [UInt8]? {
        var bytes = try file.read(directoryByteCount, at: 0)
        let fields = ByteReader(bytes)
        guard bytes.count == directoryByteCount, fields.number(at: 0) == magic, fields.number(at: 8) == version
        else { return nil }
        let dictionaryCount = Int(fields.number(at: 10, as: UInt16.self))
        guard dictionaryCount <= mostDictionaries else { return nil }
        for _ in 0..<dictionaryCount {
            var length = ByteReader(try file.read(4, at: bytes.count))
            guard let count = length.next(UInt32.self), count <= PresetDictionary.largestByteCount else {
                return nil
            }
            bytes += try file.read(4 + Int(count), at: bytes.count)
        }
        let checksum = bytes.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0[8...])) }
        return fields.number(at: 4) == checksum ? bytes : nil
    }

    /// The slots of a part whose segments are not given up; `nil` if they are damaged.
    func table(part: Int, firstLiveSegment: UInt32) -> IndexTable? {
        let (count, checksum, offset) = parts[part]
        // In pieces, so that a damaged length does not ask for all memory.
        var table = IndexTable(capacity: min(count, Self.slotsAtOnce))
        var actual: UInt32 = 0
        var done = 0
        while done < count {
            let byteCount = min(count - done, Self.slotsAtOnce) * IndexSlot.encodedByteCount
            guard
                case .success(let bytes) = Result(catching: { () throws(SystemError) in
                    try file.read(byteCount, at: offset + done * IndexSlot.encodedByteCount)
                }), bytes.count == byteCount
            else { return nil }
            let isSound = bytes.withUnsafeBytes { bytes in
                actual = Zlib.crc32(bytes, continuing: actual)
                return Self.add(bytes, to: &table, part: part, firstLiveSegment: firstLiveSegment)
            }
            guard isSound else { return nil }
            done += Self.slotsAtOnce
        }
        return actual == checksum ? table : nil
    }

    private static let slotsAtOnce = 1 << 14

    /// Adds slots to a table; returns false if one of them cannot be in that part.
    private static func add(
        _ bytes: UnsafeRawBufferPointer,
        to table: inout IndexTable,
        part: Int,
        firstLiveSegment: UInt32
    ) -> Bool {
        let fields = ByteReader(bytes)
        for start in stride(from: 0, to: bytes.count, by: IndexSlot.encodedByteCount) {
            let words: (UInt64, UInt64, UInt64, UInt64) = (
                fields.number(at: start), fields.number(at: start + 8),
                fields.number(at: start + 16), fields.number(at: start + 24)
            )
            guard let slot = IndexSlot(words: words),
                PackedIndex.part(slot.hash) == part
            else { return false }
            if slot.place.segment >= firstLiveSegment { table.insert(slot) }
        }
        return true
    }

    // MARK: Writing

    /// The length in bytes of a snapshot with `slotCount` slots.
    static func byteCount(slotCount: Int, dictionaries: [PresetDictionary]) -> Int {
        let dictionaries = dictionaries.prefix(mostDictionaries).reduce(0) { $0 + 4 + $1.bytes.count }
        return directoryByteCount + dictionaries + slotCount * IndexSlot.encodedByteCount
    }

    /// The position of the log at a snapshot: its place, the last serial, and the record before it.
    struct Position: Sendable {
        let place: RecordPlace
        let serial: UInt64
        let previous: PreviousRecord?
    }

    /// Writes the snapshot of an index to a draft, one part at a time, so that no caller waits for all of them.
    ///
    /// - Parameter position: the log's position before this call. Later changes may be in the snapshot or not: a
    ///   process that opens it follows the log from this position.
    static func write(
        _ index: PackedIndex,
        _ position: Position,
        dictionaries: [PresetDictionary],
        to file: borrowing OpenFile
    ) throws(SystemError) {
        let dictionaries = dictionaries.prefix(mostDictionaries)
        var dictionaryBytes: [UInt8] = []
        for dictionary in dictionaries {
            dictionaryBytes.append(bigEndian: UInt32(dictionary.bytes.count))
            dictionaryBytes += dictionary.bytes
        }
        var header: [UInt8] = []
        header.append(bigEndian: version)
        header.append(bigEndian: UInt16(dictionaries.count))
        header.append(bigEndian: position.place.segment)
        header.append(bigEndian: position.place.offset)
        header.append(bigEndian: position.serial)
        header.append(bigEndian: UInt32(clamping: position.previous?.byteCount ?? 0))
        header.append(bigEndian: position.previous?.hash ?? 0)
        var offset = directoryByteCount + dictionaryBytes.count
        for part in 0..<PackedIndex.partCount {
            var bytes: [UInt8] = []
            let count = index.withPart(number: part) { table in
                bytes.reserveCapacity(table.count * IndexSlot.encodedByteCount)
                table.forEachSlot { slot in
                    let words = slot.words
                    bytes.append(bigEndian: words.0)
                    bytes.append(bigEndian: words.1)
                    bytes.append(bigEndian: words.2)
                    bytes.append(bigEndian: words.3)
                }
                return table.count
            }
            header.append(bigEndian: UInt32(count))
            header.append(bigEndian: bytes.withUnsafeBytes { Zlib.crc32($0) })
            try file.write(bytes, at: offset)
            offset += bytes.count
        }
        header += dictionaryBytes
        var start: [UInt8] = []
        start.append(bigEndian: magic)
        start.append(bigEndian: header.withUnsafeBytes { Zlib.crc32($0) })
        try file.write(start + header, at: 0)
    }
}
