/// A field that decoding asks for, and where its value stands.
struct PlannedField: BitwiseCopyable {
    /// The form of the value, as far as the shape of an archive tells it.
    enum Form: UInt8 {
        /// There is no value.
        case absent
        /// A number or Boolean stands at the target.
        case number
        /// A text stands at the target.
        case text
        /// The seconds of a date stand at the target.
        case date
        /// The text of a URL without a base stands at the target.
        case url
        /// The bytes of a UUID stand at the target.
        case uuid
        /// An array of texts.
        case texts
        /// A value of a type that decodes itself: an object, or the value at the target.
        case own
        /// All else.
        case other
    }

    fileprivate let key: KeyBits
    /// The type that is asked for by the generic requests; 0 for a request of its own name.
    private let type: UInt
    let form: Form
    /// The value under the key.
    let value: BinaryPropertyList.Reference
    let target: BinaryPropertyList.Reference
    private let firstMember: Int
    private let endOfMembers: Int

    init(
        key: String,
        type: Any.Type?,
        form: Form,
        value: BinaryPropertyList.Reference,
        target: BinaryPropertyList.Reference = -1,
        members: Range<Int> = 0..<0
    ) {
        self.key = KeyBits(key)
        self.type = type.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0
        self.form = form
        self.value = value
        self.target = target
        (firstMember, endOfMembers) = (members.lowerBound, members.upperBound)
    }

    /// The members of an array among those of the plan.
    var members: Range<Int> { firstMember..<endOfMembers }

    /// Whether the value is surely an object with keys.
    var isObject: Bool { target < 0 }

    @inline(__always)
    func isOf(_ type: Any.Type) -> Bool { self.type == UInt(bitPattern: ObjectIdentifier(type)) }
}

/// A string's own two words: strings with the same words are the same text.
///
/// Why the cast is safe: a string is two words, without padding. Where they refer to an object, that is kept by
/// ``PlannedFields/keys`` as long as they are compared, so no other string can have its address.
private struct KeyBits: BitwiseCopyable {
    let first: UInt64
    let second: UInt64

    @inline(__always)
    init(_ text: String) { (first, second) = unsafeBitCast(text, to: (UInt64, UInt64).self) }

    @inline(__always)
    static func == (left: KeyBits, right: KeyBits) -> Bool {
        (left.first ^ right.first) | (left.second ^ right.second) == 0
    }
}

/// The fields of a plan.
struct PlannedFields: ~Copyable {
    private var fields = RawBuffer<PlannedField>(capacity: 16)
    private(set) var members: [BinaryPropertyList.Reference] = []
    /// The keys as they were asked for.
    private var keys: [String] = []

    var count: Int { fields.count }

    mutating func append(_ field: PlannedField, key: String) {
        fields.append(field)
        keys.append(key)
    }

    /// - Returns: where the members stand.
    mutating func append(members added: [BinaryPropertyList.Reference]) -> Range<Int> {
        members += added
        return members.count - added.count..<members.count
    }

    /// - Precondition: the plan is kept as long as the requests are in use.
    func requests(_ range: Range<Int>) -> PlannedRequests {
        precondition(range.lowerBound >= 0 && range.upperBound <= fields.count)
        return PlannedRequests(next: fields.start + range.lowerBound, end: fields.start + range.upperBound)
    }
}

/// The requests that a plan expects next of a container.
///
/// Why the pointers are safe: they are those of a plan's fields, which never change and are freed with the plan; the
/// unarchiver that the container refers to keeps the plan. `next` is read only before `end`.
struct PlannedRequests {
    private var next: UnsafePointer<PlannedField>
    private let end: UnsafePointer<PlannedField>

    fileprivate init(next: UnsafePointer<PlannedField>, end: UnsafePointer<PlannedField>) {
        self.next = next
        self.end = end
    }

    /// None.
    init() {
        let none = UnsafePointer<PlannedField>(bitPattern: MemoryLayout<PlannedField>.alignment).unsafelyUnwrapped
        self.init(next: none, end: none)
    }

    /// The field that is expected next, if it is the one with this key; `nil` otherwise.
    @inline(__always)
    func field(_ key: String) -> PlannedField? {
        guard next != end, next.pointee.key == KeyBits(key) else { return nil }
        return next.pointee
    }

    /// Notes that the field that was expected is decoded.
    @inline(__always)
    mutating func advance() { next += 1 }
}
