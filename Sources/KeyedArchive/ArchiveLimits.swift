/// How much memory and work an archive may cost its reader.
///
/// Everything is checked before memory is taken. The defaults accept every archive of up to 1 GiB that was written
/// in earnest, and stop archives that refer to the same parts over and over.
public struct ArchiveLimits: Sendable {
    /// The archive's length in bytes. 1 GiB by default.
    public var byteCount: Int
    /// The objects in its table. 2^26 by default; each takes at least two bytes of the archive.
    public var objectCount: Int
    /// How deep objects may nest. 1,000 by default, or less where a thread's stack is too small for that.
    public var depth: Int
    /// The references that are followed and the keys that are searched, for each byte of the archive. 64 by
    /// default; 2^16 are free.
    public var referencesPerByte: Int
    /// The bytes of text and data that are decoded, for each byte of the archive. 64 by default; 2^16 are free.
    public var decodedBytesPerByte: Int

    /// Makes limits: 1 GiB, 2^26 objects, 1,000 levels and 64 of each for a byte, unless other limits are given.
    public init(
        byteCount: Int = 1 << 30,
        objectCount: Int = 1 << 26,
        depth: Int = 1_000,
        referencesPerByte: Int = 64,
        decodedBytesPerByte: Int = 64
    ) {
        self.byteCount = byteCount
        self.objectCount = objectCount
        self.depth = depth
        self.referencesPerByte = referencesPerByte
        self.decodedBytesPerByte = decodedBytesPerByte
    }

    /// Names of classes are shorter than this, in bytes.
    package static let classNameLimit = 4_096

    /// The budget that every archive has, however small it is.
    private static let free = 1 << 16

    package func references(in byteCount: Int) -> Int { Self.budget(of: referencesPerByte, for: byteCount) }
    package func decodedBytes(in byteCount: Int) -> Int { Self.budget(of: decodedBytesPerByte, for: byteCount) }

    /// How many members a collection may hold, those of its members included: a cast to `NSArray` takes a
    /// microsecond and 100 bytes for each of them.
    package func heldMembers(in byteCount: Int) -> Int {
        // Sums of two of these must fit.
        min(Self.budget(of: referencesPerByte / 4, for: byteCount), .max / 4)
    }

    private static func budget(of perByte: Int, for byteCount: Int) -> Int {
        let (product, overflow) = max(0, perByte).multipliedReportingOverflow(by: byteCount)
        return overflow || product > .max - free ? .max : product + free
    }
}
