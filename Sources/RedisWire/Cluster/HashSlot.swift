/// One of the 16,384 parts of a cluster's keys. A node has all keys of its slots.
package struct HashSlot: Sendable, Hashable {
    package static let count = 16_384

    /// From 0 to 16,383.
    package let number: Int

    /// - Returns: `nil` for a number that no slot has.
    package init?(number: Int) {
        guard (0..<Self.count).contains(number) else { return nil }
        self.number = number
    }

    /// The slot of a key: the CRC-16 (XMODEM) of the bytes between its first `{` and the next `}`, if there are any, and
    /// of all bytes otherwise.
    package init(ofKey key: some Collection<UInt8>) {
        number = Int(Self.checksum(of: Self.tag(of: key[...])) % UInt16(Self.count))
    }

    private static func tag<Bytes: Collection<UInt8>>(of key: Bytes) -> Bytes where Bytes.SubSequence == Bytes {
        guard let open = key.firstIndex(of: UInt8(ascii: "{")) else { return key }
        let rest = key[key.index(after: open)...]
        guard let close = rest.firstIndex(of: UInt8(ascii: "}")), close != rest.startIndex else { return key }
        return rest[..<close]
    }

    private static func checksum(of bytes: some Sequence<UInt8>) -> UInt16 {
        var checksum: UInt16 = 0
        for byte in bytes { checksum = checksum << 8 ^ table[Int(UInt8(truncatingIfNeeded: checksum >> 8) ^ byte)] }
        return checksum
    }

    /// The checksum of each byte.
    private static let table: [UInt16] = (0..<256).map { byte in
        (0..<8).reduce(UInt16(byte) << 8) { rest, _ in rest & 0x8000 == 0 ? rest << 1 : rest << 1 ^ 0x1021 }
    }
}
