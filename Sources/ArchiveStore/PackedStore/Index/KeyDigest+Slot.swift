extension KeyDigest {
    /// The digest as a packed store has it: a hash of 48 bits, which records have as well, and a check of 24, which is
    /// never 0.
    ///
    /// Two keys that share all 72 bits displace each other, which the comparison with the record's key finds. Such
    /// a collision takes about 2^36 hashes to make, a second key for a given one 2^72.
    var shortened: KeyDigest {
        KeyDigest(high: Self.shortened(hash: high), low: max(1, low & (1 << Self.checkBitCount - 1)))
    }

    static let hashBitCount: UInt64 = 48
    static let checkBitCount: UInt64 = 24

    /// The 48 bits of a hash; a floor's, the number of a segment, stays as it is, and no key's is one.
    static func shortened(hash: UInt64) -> UInt64 {
        if segment(ofHash: hash) != nil { return hash }
        return hash & (1 << hashBitCount - 1) | (UInt64(Segment.largestNumber) + 1)
    }

    /// The number of a floor's segment, if the hash is one, or 0, which seals have; `nil` if the hash is a key's.
    static func segment(ofHash hash: UInt64) -> UInt32? {
        hash <= UInt64(Segment.largestNumber) ? UInt32(hash) : nil
    }
}
