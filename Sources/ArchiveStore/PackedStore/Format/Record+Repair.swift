extension Record {
    /// The record that the bytes begin with if one bit of its head is changed; `nil` if there is none.
    init?(repairing bytes: [UInt8], at place: RecordPlace) {
        let byteCount = bytes.withUnsafeBytes { Self.checkedByteCount(in: $0, at: 0) }
        // If the flipped bit is in a length, it is among the fields.
        let most = byteCount <= Self.mostRepairedBytes ? byteCount : Self.largestFieldsByteCount
        let limit = min(most, bytes.count)
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

    /// In longer heads, only the fields are repaired: trying all bits would take a while.
    private static let mostRepairedBytes = 2_048
}
