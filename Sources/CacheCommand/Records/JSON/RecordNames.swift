/// The names of an object that is being parsed: tells which ones occur twice.
///
/// Records of one source mostly have the same names in the same order. While they do, no name is looked up:
/// the expected ones are known to differ from each other.
struct RecordNames {
    /// Above this many fields a set is cheaper than looking through them.
    private static let scanLimit = 16

    private let expected: [String]
    private var matched = 0
    private var followsExpected = true
    private var names: Set<String> = []

    init(expected: [String]) {
        self.expected = expected
    }

    /// The name that comes next if this object is like the one before.
    var next: String? {
        followsExpected && matched < expected.count ? expected[matched] : nil
    }

    /// Takes `name` in, which comes after those of `fields`; `false` if it is among them.
    mutating func insert(_ name: String, after fields: [RecordField]) -> Bool {
        if let next, next == name {
            matched += 1
            return true
        }
        followsExpected = false
        if fields.count < Self.scanLimit { return !fields.contains { $0.name == name } }
        if names.isEmpty { names = Set(fields.map(\.name)) }
        return names.insert(name).inserted
    }

    /// Whether the object had the expected names, all of them, and no others.
    var wereExpected: Bool { followsExpected && matched == expected.count }
}
