/// The bounds of a property list that is read; a list beyond one of them is an error.
public struct PropertyListLimits: Sendable {
    /// The most bytes of input. At most `Int(Int32.max)`.
    public var bytes: Int
    /// The most containers within each other. At most 512, because readers call themselves for each.
    public var depth: Int
    /// The most values, keys included; an object that a binary list shares counts wherever it is used. Each takes
    /// 24 bytes of memory while the list is read. Text and data that are shared may add up to 64 times the input, or to
    /// 64 MiB if that is more.
    public var values: Int

    /// The bytes of text and data that a list may have, however short it is.
    static let leastText = 64 << 20

    public init(bytes: Int = Int(Int32.max), depth: Int = 512, values: Int = 8_000_000) {
        self.bytes = min(max(bytes, 0), Int(Int32.max))
        self.depth = min(max(depth, 1), 512)
        self.values = min(max(values, 1), Int(Int32.max))
    }
}
