/// An amount of memory or storage.
public struct ByteCount: Sendable, Hashable, Comparable {
    /// The amount in bytes, zero or more.
    public let bytes: Int

    /// An amount in bytes; negative ones are none.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: max(0, count)) }

    /// An amount in units of 1,024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { .scaled(count, by: 1 << 10) }

    /// An amount in units of 1,024 × 1,024 bytes.
    public static func mebibytes(_ count: Int) -> ByteCount { .scaled(count, by: 1 << 20) }

    private static func scaled(_ count: Int, by unit: Int) -> ByteCount {
        let (bytes, overflow) = max(0, count).multipliedReportingOverflow(by: unit)
        return ByteCount(bytes: overflow ? .max : bytes)
    }

    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}
