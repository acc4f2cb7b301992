/// An amount of memory or storage.
public struct ByteCount: Sendable, Hashable, Comparable {
    /// The amount in bytes, zero or more.
    public let bytes: Int

    /// No bytes.
    public static let zero = ByteCount(bytes: 0)

    /// An amount in bytes; a negative one counts as 0.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(bytes: max(0, count)) }

    /// An amount in units of 1,024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { .scaled(count, by: 1 << 10) }

    /// An amount in units of 1,024 × 1,024 bytes.
    public static func mebibytes(_ count: Int) -> ByteCount { .scaled(count, by: 1 << 20) }

    /// An amount in units of 1,024 × 1,024 × 1,024 bytes.
    public static func gibibytes(_ count: Int) -> ByteCount { .scaled(count, by: 1 << 30) }

    private static func scaled(_ count: Int, by unit: Int) -> ByteCount {
        let (bytes, overflow) = max(0, count).multipliedReportingOverflow(by: unit)
        return ByteCount(bytes: overflow ? .max : bytes)
    }

    /// Whether the left one is fewer bytes.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }
}

extension ByteCount: CustomStringConvertible {
    /// In the largest unit that is not above the amount, with one decimal: `1.5 MiB`, `512 bytes`.
    public var description: String {
        let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
        guard let (name, unit) = units.first(where: { bytes >= $0.1 }) else { return "\(bytes) bytes" }
        // Rounded down, so that a limit never reads as more than it is.
        let tenths = bytes / unit * 10 + bytes % unit * 10 / unit
        return tenths % 10 == 0 ? "\(tenths / 10) \(name)" : "\(tenths / 10).\(tenths % 10) \(name)"
    }
}
