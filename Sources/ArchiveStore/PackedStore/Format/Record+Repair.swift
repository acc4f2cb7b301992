extension Record {
    /// The record that the bytes begin with if one bit of its head is changed; `nil` if there is none.
    init?(repairing bytes: [UInt8], at place: RecordPlace) {
        guard bytes.count >= Self.headByteCount else { return nil }
        let fields = ByteReader(bytes)
        let keyByteCount = Int(fields.number(at: 14, as: UInt16.self))
        let attributesByteCount = Int(fields.number(at: 16, as: UInt16.self))
        // If the flipped bit is in a length, it is in the first 64 bytes.
        let byteCount = min(Self.headByteCount + keyByteCount + attributesByteCount, bytes.count)
        let limit = byteCount <= Self.mostRepairedBytes ? byteCount : Self.headByteCount
        var bytes = Array(bytes.prefix(Self.mostRepairedBytes))
        for bit in 0..<limit * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8)
            if let record = try? Record(head: bytes, at: place) {
                self = record
                return
            }
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
        return nil
    }

    /// In longer heads, only the fixed part is repaired: trying all bits would take a while.
    private static let mostRepairedBytes = 2_048
}
