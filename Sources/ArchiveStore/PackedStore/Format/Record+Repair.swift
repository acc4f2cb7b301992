extension Record {
    /// The record that the bytes begin with if one bit of its head is changed; `nil` if there is none.
    ///
    /// - Parameter patience: Loses the most bytes that may have to be checked to find out.
    init?(repairing bytes: [UInt8], at place: RecordPlace, patience: inout Int) {
        let byteCount = bytes.withUnsafeBytes { Self.checkedByteCount(in: $0, at: 0) }
        // If the flipped bit is in a length, it is among the fields.
        let limit = min(byteCount, bytes.count)
        patience -= limit * 8 * byteCount
        var bytes = Array(bytes.prefix(Self.largestHeadByteCount))
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
}
