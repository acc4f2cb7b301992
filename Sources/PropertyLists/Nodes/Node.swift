/// A value of a property list in a flat table: 24 bytes and no references.
///
/// A container's members are a chain: `payload` is the first one's index, `next` leads on, 0 ends. A dictionary's
/// chain has each key, a string, before its value.
struct Node: BitwiseCopyable {
    enum Kind: UInt8 {
        case null, bool, integer, unsigned, float, real, date, data, string, uid, array, set, dictionary
    }

    let kind: Kind
    /// The member after this one; 0 for none: the table's first node is the root, a member of no container.
    var next: UInt32 = 0
    /// The value's first byte in the input.
    let offset: UInt32
    /// The bytes of data and strings; the members of arrays and sets; the pairs of dictionaries.
    var count: UInt32
    /// The number's bits, the first byte of data and strings, the first member of containers.
    var payload: UInt64

    init(_ kind: Kind, offset: Int, payload: UInt64 = 0, count: Int = 0) {
        self.kind = kind
        self.offset = UInt32(truncatingIfNeeded: offset)
        self.count = UInt32(truncatingIfNeeded: count)
        self.payload = payload
    }

    var start: Int { Int(truncatingIfNeeded: payload) }
    var length: Int { Int(count) }
    var range: Range<Int> { start..<start + length }
    var real: Double { Double(bitPattern: payload) }
    var float: Float { Float(bitPattern: UInt32(truncatingIfNeeded: payload)) }
    var isContainer: Bool { kind == .array || kind == .set || kind == .dictionary }

    static func integer(_ value: some FixedWidthInteger & SignedInteger) -> Node {
        Node(.integer, offset: 0, payload: UInt64(bitPattern: Int64(value)))
    }

    static func unsigned(_ value: some FixedWidthInteger & UnsignedInteger) -> Node {
        let value = UInt64(value)
        return Node(value >> 63 == 0 ? .integer : .unsigned, offset: 0, payload: value)
    }

    static func real(_ value: Double) -> Node { Node(.real, offset: 0, payload: value.bitPattern) }
    static func float(_ value: Float) -> Node { Node(.float, offset: 0, payload: UInt64(value.bitPattern)) }
    static func bool(_ value: Bool) -> Node { Node(.bool, offset: 0, payload: value ? 1 : 0) }
}
