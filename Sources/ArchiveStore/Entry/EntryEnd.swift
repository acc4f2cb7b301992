/// The last bytes of an entry that has a serial: the serial as the last attribute, and the footer. They tell each save,
/// and each move of its deadline, from every other one, without the rest.
package enum EntryEnd {
    /// Kind, length and value of the serial; footer.
    package static let byteCount = 1 + 2 + 8 + EntryFooter.byteCount

    /// The serial of an entry and the end of its freshness in seconds since 2001-01-01 UTC, by its last bytes; `nil` for
    /// bytes that no entry with a serial ends with. The checksum cannot be checked.
    static func serial(of bytes: [UInt8]) -> (serial: UInt64, expiresAt: Double)? {
        guard bytes.count == byteCount, EntryFooter.ends(bytes),
            let serial = EntryAttributes.serial(in: bytes.prefix(byteCount - EntryFooter.byteCount))
        else { return nil }
        let expiresAt = Double(bitPattern: ByteReader(bytes.suffix(EntryFooter.byteCount)).number(at: 8))
        return expiresAt.isNaN ? nil : (serial, expiresAt)
    }

    /// The bytes with another end of the entry's freshness, and the checksum that the whole entry has then.
    ///
    /// - Parameters:
    ///   - seconds: since 2001-01-01 UTC; infinity means never. Not a NaN.
    ///   - bytes: the end of an entry that was checked.
    /// - Precondition: `bytes` are as many as ``byteCount`` says.
    package static func moving(deadlineTo seconds: Double, of bytes: [UInt8]) -> [UInt8] {
        precondition(bytes.count == byteCount, "these are not an entry's end")
        var moved = bytes
        moved.withUnsafeMutableBytes { output in
            let footer = UnsafeMutableRawBufferPointer(rebasing: output[(byteCount - EntryFooter.byteCount)...])
            EntryFooter.write(expiresAt: seconds, to: footer)
        }
        let seal = byteCount - EntryFooter.sealByteCount
        let checksum: UInt32 = ByteReader(bytes[seal...]).number(at: 0)
        let sum = checksum ^ change(from: bytes[..<seal], to: moved[..<seal])
        moved.withUnsafeMutableBytes { output in
            EntryFooter.writeSeal(sum, to: UnsafeMutableRawBufferPointer(rebasing: output[seal...]))
        }
        return moved
    }

    /// By which bits the CRC-32 of any bytes differs when their end is another one: a CRC is linear, so the equal
    /// bytes in front do not change the difference.
    private static func change(from former: ArraySlice<UInt8>, to new: ArraySlice<UInt8>) -> UInt32 {
        let difference = zip(former, new).map { $0 ^ $1 }
        let zeros = [UInt8](repeating: 0, count: difference.count)
        return difference.withUnsafeBytes { Zlib.crc32($0) } ^ zeros.withUnsafeBytes { Zlib.crc32($0) }
    }
}
