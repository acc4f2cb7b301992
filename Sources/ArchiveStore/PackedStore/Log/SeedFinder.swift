/// Finds a log's seed by its records, where the header of no segment can be read.
///
/// The checksum of a head is the CRC-32 of known bytes, begun with the seed. CRC-32 can be undone byte by byte, so each head
/// tells the one seed that it fits. A second head tells that the first one was no chance.
enum SeedFinder {
    /// How many bytes of a segment are looked at.
    private static let mostBytes = 1 << 20
    private static let mostCandidates = 1 << 12

    /// The seed of a segment's records; `nil` if two sound records in a row are not found.
    static func seed(of file: borrowing OpenFile, number: UInt32) throws(SystemError) -> UInt32? {
        let bytes = try file.read(mostBytes, at: 0)
        return bytes.withUnsafeBytes { bytes in
            var start = 0
            for _ in 0..<mostCandidates {
                guard let candidate = Record.candidate(in: bytes, from: start) else { return nil }
                start = candidate + 1
                let place = RecordPlace(segment: number, offset: UInt32(candidate))
                let rest = UnsafeRawBufferPointer(rebasing: bytes[candidate...])
                guard let head = try? RecordHead(rest, at: place), head.byteCount <= rest.count else { continue }
                let seed = seed(fitting: UnsafeRawBufferPointer(rebasing: rest[..<head.byteCount]), at: place)
                let next = candidate + head.byteCount + head.payloadByteCount
                guard next < bytes.count else { continue }
                let following = UnsafeRawBufferPointer(rebasing: bytes[next...])
                let nextPlace = RecordPlace(segment: number, offset: UInt32(next))
                if (try? Record(following, at: nextPlace, in: RecordForm(seed: seed))) != nil { return seed }
            }
            return nil
        }
    }

    /// The seed with which a head has the checksum that it has.
    private static func seed(fitting head: UnsafeRawBufferPointer, at place: RecordPlace) -> UInt32 {
        var state = ~ByteReader(head).number(at: RecordHead.checksumOffset, as: UInt32.self)
        func undo(_ byte: UInt8) {
            let index = Int(indices[Int(state >> 24)])
            state = (state ^ table[index]) << 8 | UInt32(UInt8(index) ^ byte)
        }
        for byte in head[(RecordHead.checksumOffset + 4)...].reversed() { undo(byte) }
        withUnsafeBytes(of: place.serial.bigEndian) { for byte in $0.reversed() { undo(byte) } }
        return ~state
    }

    /// CRC-32 of each byte, by the reflected polynomial.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { state, _ in state & 1 == 0 ? state >> 1 : state >> 1 ^ 0xEDB8_8320 }
    }
    /// The index in the table by the upper byte of the entry there, which differs for each index.
    private static let indices: [UInt8] = {
        var indices = [UInt8](repeating: 0, count: 256)
        for (index, value) in table.enumerated() { indices[Int(value >> 24)] = UInt8(index) }
        return indices
    }()
}
