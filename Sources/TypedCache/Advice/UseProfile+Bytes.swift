import ArchiveStore
import Foundation

/// The bytes of a profile's file.
///
///     0       4  magic          54 43 55 50, "TCUP"
///     4       2  version        UInt16, 2
///     6       2  zero
///     8      24  times, limit   Float64: started and updated, in seconds since 2001-01-01 UTC; the limit of memory in
///                               bytes, negative for none
///     32     40  sums           Float64: uses, memory hits, sampled uses, keys, their bytes
///     72   5760  distances      720 Float64: uses by their distance
///     5832 1536  sizes          96 times two Float64: uses, and hits that the own policy has more than LRU
///     7368    4  checksum       UInt32, CRC-32 of every byte before it
///
/// Numbers are big-endian, and finite.
extension UseProfile {
    private static let magic: UInt32 = 0x5443_5550
    private static let version: UInt16 = 2
    static let byteLength = 8 + 8 * (8 + DistanceScale.count + 2 * SizeScale.count) + 4
    /// No count and no time is larger, so that sums of them stay finite.
    private static let largestNumber = 1e18

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteLength)
        bytes.append(bigEndian: Self.magic)
        bytes.append(bigEndian: Self.version)
        bytes.append(bigEndian: UInt16(0))
        let head = [
            startedAt.timeIntervalSinceReferenceDate, updatedAt.timeIntervalSinceReferenceDate,
            byteLimit.map(Double.init) ?? -1, uses, memoryHits, distances.uses, keyCount, byteCount,
        ]
        for number in head + distances.counts + sizes.flatMap({ [$0.uses, $0.gain] }) {
            bytes.append(bigEndian: min(max(-Self.largestNumber, number), Self.largestNumber).bitPattern)
        }
        bytes.append(bigEndian: bytes.withUnsafeBytes { Zlib.crc32($0) })
        return bytes
    }

    /// Reads a profile's file, whose bytes may be any.
    ///
    /// - Throws: `.unsupportedVersion` for a later version, `.corrupted` for bytes that no version has written.
    package init(_ bytes: [UInt8]) throws(CacheError) {
        func damaged(_ reason: String) -> CacheError {
            CacheError(.corrupted, "the profile of uses cannot be read: \(reason)")
        }
        guard bytes.count >= 8 else { throw damaged("it has \(bytes.count) bytes") }
        var reader = ByteReader(bytes)
        guard reader.next(UInt32.self) == Self.magic, let version = reader.next(UInt16.self) else {
            throw damaged("the magic bytes are missing")
        }
        guard version <= Self.version else {
            throw CacheError(
                .unsupportedVersion,
                "the profile of uses has format version \(version), this is \(Self.version)"
            )
        }
        guard version == Self.version, reader.next(UInt16.self) == 0 else {
            throw damaged("the head is unknown")
        }
        guard bytes.count == Self.byteLength else {
            throw damaged("it has \(bytes.count) bytes instead of \(Self.byteLength)")
        }
        let checksum = bytes.withUnsafeBytes { Zlib.crc32(UnsafeRawBufferPointer(rebasing: $0.dropLast(4))) }
        var isSound = true
        func number() -> Double {
            let number = reader.next(UInt64.self).map(Double.init(bitPattern:)) ?? .nan
            // A comparison with NaN is false.
            if !(number.magnitude <= Self.largestNumber) { isSound = false }
            return number
        }
        let (started, updated, limit) = (number(), number(), number())
        self.init(startedAt: Date(timeIntervalSinceReferenceDate: started))
        updatedAt = Date(timeIntervalSinceReferenceDate: updated)
        (uses, memoryHits, distances.uses, keyCount, byteCount) = (number(), number(), number(), number(), number())
        for index in distances.counts.indices { distances.counts[index] = number() }
        for index in sizes.indices { sizes[index] = SizeCount(uses: number(), gain: number()) }
        guard reader.next(UInt32.self) == checksum else { throw damaged("the checksum does not match") }
        guard isSound, uses >= 0, memoryHits >= 0, distances.uses >= 0, keyCount >= 0, byteCount >= 0,
            started.magnitude < 1e11, updated.magnitude < 1e11
        else { throw damaged("a number is impossible") }
        byteLimit = limit < 0 ? nil : Int(limit)
    }
}
