/// One value in a text of JSON: 16 bytes and no references.
struct JSONItem: BitwiseCopyable {
    enum Kind: UInt8, BitwiseCopyable { case null, no, yes, number, string, array, object }

    let kind: Kind
    /// A string without escapes; a number with neither fraction nor exponent.
    let isPlain: Bool
    /// Whether all bytes of a string are ASCII.
    let isASCII: Bool
    /// The bytes of a string or a number, the elements of an array, the members of an object.
    let count: UInt32
    /// The first byte of a string or a number; the index of the first element or member.
    let start: UInt32
    /// The names of an object's members. See ``JSONShapes``.
    let shape: UInt32

    init(
        _ kind: Kind,
        isPlain: Bool = false,
        isASCII: Bool = false,
        start: Int = 0,
        count: Int = 0,
        shape: Int = 0
    ) {
        self.kind = kind
        self.isPlain = isPlain
        self.isASCII = isASCII
        self.count = UInt32(truncatingIfNeeded: count)
        self.start = UInt32(truncatingIfNeeded: start)
        self.shape = UInt32(truncatingIfNeeded: shape)
    }

    static var null: JSONItem { JSONItem(.null) }

    /// The bytes of a string or a number, the indices of elements or members.
    var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

/// A text is no JSON, or unusual: `JSONDecoder` is to decide.
struct UnclearJSON: Error {}
