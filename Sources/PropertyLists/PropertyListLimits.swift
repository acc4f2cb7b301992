import CStack

/// The bounds of a property list that is read; a list beyond one of them is an error.
public struct PropertyListLimits: Sendable {
    /// The most bytes of input. At most `Int(Int32.max)`.
    public var bytes: Int
    /// The most containers within each other. At most 512, because readers call themselves for each; fewer where the
    /// thread that reads has not as much stack left.
    public var depth: Int
    /// The most values, keys included; an object that a binary list shares counts wherever it is used. Each takes
    /// 24 bytes of memory while the list is read. Text and data that are shared may add up to 64 times the input, or to
    /// 64 MiB if that is more.
    public var values: Int

    /// The most containers within each other that are read or written.
    private static let mostLevels = 512

    /// The bytes of text and data that a list may have, however short it is.
    static let leastText = 64 << 20

    /// Makes limits; impossible numbers become the nearest possible ones.
    public init(bytes: Int = Int(Int32.max), depth: Int = 512, values: Int = 8_000_000) {
        self.bytes = min(max(bytes, 0), Int(Int32.max))
        self.depth = min(max(depth, 1), Self.mostLevels)
        self.values = min(max(values, 1), Int(Int32.max))
    }

    /// Checks that a function may call itself for a container.
    ///
    /// - Parameters:
    ///   - depth: the containers around it.
    ///   - limit: the most containers within each other.
    ///   - offset: the container's first byte in the input; `nil` for writing.
    /// - Throws: `.limitExceeded`, also if this thread's stack has no room for another level.
    @inline(__always)
    static func check(
        depth: Int,
        limit: Int = mostLevels,
        offset: Int? = nil
    ) throws(PropertyListError) {
        if depth >= unchecked_levels || depth >= limit { try checkClosely(depth, limit: limit, offset: offset) }
    }

    // Apart, so that its stack is not taken at each level.
    @inline(never)
    private static func checkClosely(_ depth: Int, limit: Int, offset: Int?) throws(PropertyListError) {
        if depth >= limit {
            throw PropertyListError(.limitExceeded, "more than \(limit) containers in each other", offset: offset)
        }
        if stack_is_low() {
            throw PropertyListError(
                .limitExceeded,
                "containers in each other deeper than this thread's stack allows",
                offset: offset
            )
        }
    }
}
