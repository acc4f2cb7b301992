import Foundation
import Sealing

/// The file `index` of a packed store: where every entry was when the log had come to some position.
///
///      0   4  magic              54 43 50 49, "TCPI"
///      4   4  checksum           CRC-32 of bytes 8 to the first part
///      8   2  version            UInt16, 3
///     10   2  dictionaries       UInt16, N, their number
///     12   8  position           UInt32 segment, UInt32 offset: later records may or may not be in here
///     20   4  previous length    UInt32, of the record before the position
///     24   8  previous hash      of its key
///     32   8  identity           of the position's segment
///     40 12·256 parts            UInt32 number of slots, UInt32 their bytes, UInt32 CRC-32 of these
///          …  dictionaries       UInt32 length, UInt32 length of the zlib stream, and this, N times
///          …  slots              part after part, see `IndexPart`
///
/// An encrypted one begins with a ``SnapshotSeal``, which is followed by the bytes before the slots in one piece, and by
/// each part, in pieces that are encrypted one by one.
///
/// Numbers are big-endian. If the file is missing or damaged, nothing is lost: the index is rebuilt from the segments.
/// A record that it names is checked when it is read.
final class IndexSnapshot: Sendable {
    static let fileName = "index"
    static let magic: UInt32 = 0x5443_5049
    private static let version: UInt16 = 3
    private static let fixedByteCount = 40
    private static let partHeadByteCount = 12
    private static let directoryByteCount = fixedByteCount + partHeadByteCount * PackedIndex.partCount
    private static let mostDictionaries = 64

    let position: RecordPlace
    let previous: PreviousRecord?
    /// The identity of the position's segment.
    let segmentIdentity: UInt64
    /// Copies of the segments' dictionaries, which are not inflated before one is needed.
    let dictionaries: [StoredDictionary]
    private let file: OpenFile
    /// `nil`: it is not encrypted.
    private let seal: SnapshotSeal?
    /// The first bytes of the file: all of it, where it is short.
    private let start: [UInt8]
    private let parts: [(count: Int, byteCount: Int, checksum: UInt32, offset: Int)]
    /// The number of entries, as its directory says.
    var count: Int { parts.reduce(0) { $0 + $1.count } }

    /// Opens the snapshot in `root`; `nil` if there is none that can be used.
    ///
    /// - Parameter keys: `nil`: it must not be encrypted; otherwise it must be, with one of these.
    init?(in root: Directory, _ keys: SealingKeys?) throws(SystemError) {
        let file: OpenFile
        do {
            file = try root.file(Self.fileName)
        } catch {
            if error.isMissing || error.isSymbolicLink || error.isNotRegular { return nil }
            throw error
        }
        let status = try file.status()
        guard status.isRegular else { return nil }
        // One read for the header, the dictionaries and the parts of a small index.
        let start = try file.read(min(Self.startByteCount, status.byteCount), at: 0)
        let header: [UInt8]
        var offset: Int
        if let keys {
            guard let seal = SnapshotSeal(start, keys), seal.byteCount <= Self.largestHeaderByteCount,
                let opened = try seal.header(of: file)
            else { return nil }
            guard Self.isHeader(opened) else { return nil }
            (header, offset, self.seal) = (opened, SnapshotSeal.fixedByteCount + seal.byteCount, seal)
        } else {
            guard let plain = try Self.header(of: file, from: start) else { return nil }
            (header, offset, self.seal) = (plain, plain.count, nil)
        }
        let fields = ByteReader(header)
        position = RecordPlace(segment: fields.number(at: 12), offset: fields.number(at: 16))
        let previousByteCount = Int(fields.number(at: 20, as: UInt32.self))
        previous =
            previousByteCount == 0
            ? nil : PreviousRecord(byteCount: previousByteCount, hash: fields.number(at: 24))
        segmentIdentity = fields.number(at: 32)
        var parts: [(count: Int, byteCount: Int, checksum: UInt32, offset: Int)] = []
        for part in 0..<PackedIndex.partCount {
            let start = Self.fixedByteCount + part * Self.partHeadByteCount
            let count = Int(fields.number(at: start, as: UInt32.self))
            let byteCount = Int(fields.number(at: start + 4, as: UInt32.self))
            parts.append((count, byteCount, fields.number(at: start + 8), offset))
            offset += byteCount + (seal == nil ? 0 : SealedPiece.overhead)
        }
        guard offset == status.byteCount else { return nil }
        var dictionaries: [StoredDictionary] = []
        var rest = ByteReader(header[Self.directoryByteCount...])
        while let byteCount = rest.next(UInt32.self), let storedCount = rest.next(UInt32.self),
            let stored = rest.next(byteCount: Int(storedCount))
        {
            dictionaries.append(StoredDictionary(bytes: Array(stored), byteCount: Int(byteCount)))
        }
        self.dictionaries = dictionaries
        self.parts = parts
        self.file = file
        self.start = start.count == status.byteCount ? start : []
    }

    private static let startByteCount = 1 << 15
    /// The most bytes before the slots.
    private static let largestHeaderByteCount =
        directoryByteCount + mostDictionaries * (8 + PresetDictionary.largestStoredByteCount) + SealedPiece.overhead

    /// Whether bytes that were decrypted are such as this version writes.
    private static func isHeader(_ bytes: [UInt8]) -> Bool {
        bytes.count >= directoryByteCount && ByteReader(bytes).number(at: 0) == magic
            && ByteReader(bytes).number(at: 8) == version
    }

    /// Bytes of the file, as many as there are.
    private func read(_ byteCount: Int, at offset: Int) throws(SystemError) -> [UInt8] {
        if offset + byteCount <= start.count { return Array(start[offset..<offset + byteCount]) }
        return try file.read(byteCount, at: offset)
    }

    /// All bytes before the first slot, checked; `nil` if they are not sound.
    ///
    /// - Parameter start: the first bytes of the file.
    private static func header(of file: borrowing OpenFile, from start: [UInt8]) throws(SystemError) -> [UInt8]? {
        let fields = ByteReader(start)
        guard start.count >= directoryByteCount, fields.number(at: 0) == magic, fields.number(at: 8) == version
        else { return nil }
        let dictionaryCount = Int(fields.number(at: 10, as: UInt16.self))
        guard dictionaryCount <= mostDictionaries else { return nil }
        var bytes = start
        var end = directoryByteCount
        for _ in 0..<dictionaryCount {
            if bytes.count < end + 8 { bytes += try file.read(end + 8 - bytes.count, at: bytes.count) }
            guard bytes.count >= end + 8 else { return nil }
            let count = Int(ByteReader(bytes).number(at: end + 4, as: UInt32.self))
            guard count <= PresetDictionary.largestStoredByteCount else { return nil }
            end += 8 + count
            if bytes.count < end { bytes += try file.read(end - bytes.count, at: bytes.count) }
            guard bytes.count >= end else { return nil }
        }
        bytes.removeLast(bytes.count - end)
        let checksum = bytes.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0[8...])) }
        return fields.number(at: 4) == checksum ? bytes : nil
    }

    /// The slots of a part whose segments are not dropped; `nil` if they are damaged.
    func table(part: Int, firstLiveSegment: UInt32) -> IndexTable? {
        // A damaged count does not ask for all memory.
        var table = IndexTable(capacity: min(parts[part].count, Self.pieceByteCount / IndexPart.usualByteCount))
        let isSound = forEachSlot(inPart: part) { slot in
            if slot.place.segment >= firstLiveSegment { table.insert(slot) }
        }
        return isSound ? table : nil
    }

    /// As ``table(part:firstLiveSegment:)``, in the order of their places, which they have in a file as this package
    /// writes it; `nil` also if they have not.
    func slots(inPart part: Int, firstLiveSegment: UInt32) -> [IndexSlot]? {
        var slots: [IndexSlot] = []
        slots.reserveCapacity(min(parts[part].count, Self.pieceByteCount / IndexPart.usualByteCount))
        var isInOrder = true
        let isSound = forEachSlot(inPart: part) { slot in
            guard slot.place.segment >= firstLiveSegment else { return }
            if let last = slots.last, slot.place < last.place { isInOrder = false }
            slots.append(slot)
        }
        return isSound && isInOrder ? slots : nil
    }

    /// The slot of a key whose segment is not dropped, as a table of its part would give it, which takes several times as
    /// long to make.
    ///
    /// - Returns: `nil` if the part is damaged, or too long to be looked through.
    func look(for digest: KeyDigest, firstLiveSegment: UInt32) -> IndexLook? {
        let part = PackedIndex.part(digest.high)
        guard parts[part].byteCount <= Self.pieceByteCount else { return nil }
        var found: IndexSlot?
        let isSound = forEachSlot(inPart: part) { slot in
            guard slot.hash == digest.high, slot.place.segment >= firstLiveSegment else { return }
            if slot.digest == digest || slot.isVague && found == nil { found = slot }
        }
        return isSound ? IndexLook(slot: found) : nil
    }

    /// Gives each slot of a part to `body`.
    ///
    /// - Returns: whether the part is sound; otherwise the slots are of no use.
    private func forEachSlot(inPart part: Int, _ body: (IndexSlot) -> Void) -> Bool {
        let (count, byteCount, checksum, offset) = parts[part]
        if let seal {
            // Its length was sealed, so it is not that of a damaged directory.
            let read = Result { () throws(SystemError) in
                try file.read(byteCount + SealedPiece.overhead, at: offset)
            }
            guard case .success(let piece) = read, let bytes = seal.open(piece, part: part) else { return false }
            var decoder = IndexPart.Decoder(part: part)
            return decoder.read(bytes, isLast: true, body) && decoder.count == count
        }
        // In pieces, so that a damaged length does not ask for all memory.
        var decoder = IndexPart.Decoder(part: part)
        var actual: UInt32 = 0
        var done = 0
        while done < byteCount {
            let pieceByteCount = min(byteCount - done, Self.pieceByteCount)
            guard
                case .success(let piece) = Result(catching: { () throws(SystemError) in
                    try read(pieceByteCount, at: offset + done)
                }), piece.count == pieceByteCount
            else { return false }
            actual = piece.withUnsafeBytes { Zlib.crc32($0, continuing: actual) }
            done += pieceByteCount
            guard decoder.read(piece, isLast: done == byteCount, body) else { return false }
        }
        return actual == checksum && decoder.count == count
    }

    private static let pieceByteCount = 1 << 18

    // MARK: Writing

    /// About how many bytes a snapshot with `slotCount` slots takes.
    static func byteCount(slotCount: Int, dictionaries: [PresetDictionary]) -> Int {
        let dictionaries = dictionaries.prefix(mostDictionaries).reduce(0) { $0 + 8 + $1.bytes.count }
        return directoryByteCount + dictionaries + slotCount * IndexPart.usualByteCount
    }

    /// The position of the log at a snapshot: its place, and the record before it.
    struct Position: Sendable {
        let place: RecordPlace
        let previous: PreviousRecord?
        let segmentIdentity: UInt64
    }

    /// About how many bytes of parts are written by one call of the system.
    private static let writtenAtOnce = 64 << 10

    /// Writes the snapshot of an index to a draft, one part at a time, so that no caller waits for all of them.
    ///
    /// - Parameters:
    ///   - position: the log's position before this call. Later changes may be in the snapshot or not: a process that opens
    ///     it follows the log from this position.
    ///   - seal: encrypts it; `nil`: it is not encrypted.
    static func write(
        _ index: PackedIndex,
        _ position: Position,
        dictionaries: [PresetDictionary],
        seal: SnapshotSeal?,
        to file: borrowing OpenFile
    ) throws(SystemError) {
        let dictionaries = dictionaries.prefix(mostDictionaries)
        var dictionaryBytes: [UInt8] = []
        for dictionary in dictionaries {
            let stored = dictionary.stored
            dictionaryBytes.append(bigEndian: UInt32(dictionary.bytes.count))
            dictionaryBytes.append(bigEndian: UInt32(stored.count))
            dictionaryBytes += stored
        }
        var header: [UInt8] = []
        header.append(bigEndian: version)
        header.append(bigEndian: UInt16(dictionaries.count))
        header.append(bigEndian: position.place.segment)
        header.append(bigEndian: position.place.offset)
        header.append(bigEndian: UInt32(clamping: position.previous?.byteCount ?? 0))
        header.append(bigEndian: position.previous?.hash ?? 0)
        header.append(bigEndian: position.segmentIdentity)
        var offset = directoryByteCount + dictionaryBytes.count
        if seal != nil { offset += SnapshotSeal.fixedByteCount + SealedPiece.overhead }
        var pending: [UInt8] = []
        for part in 0..<PackedIndex.partCount {
            let slots = index.slots(inPart: part)
            let bytes = IndexPart.bytes(of: slots)
            header.append(bigEndian: UInt32(slots.count))
            header.append(bigEndian: UInt32(bytes.count))
            header.append(bigEndian: bytes.withUnsafeBytes { Zlib.crc32($0) })
            pending += seal?.seal(bytes, part: part) ?? bytes
            if pending.count >= writtenAtOnce || part == PackedIndex.partCount - 1 {
                try file.write(pending, at: offset)
                offset += pending.count
                pending.removeAll(keepingCapacity: true)
            }
        }
        header += dictionaryBytes
        var start: [UInt8] = []
        start.append(bigEndian: magic)
        start.append(bigEndian: header.withUnsafeBytes { Zlib.crc32($0) })
        start += header
        try file.write(seal?.sealed(header: start) ?? start, at: 0)
    }
}
