/// A fact about a type that takes several look-ups of the runtime to find out.
protocol TypeEntry {
    init(_ type: Any.Type)
}

/// The entries of the types that were archived or decoded last.
///
/// A table by the types' addresses. A type that finds its places taken takes the first one: with one place for each,
/// two types of a structure that shared it had each other's entries made again for each value, 2,100 instructions. A type
/// never goes away.
struct TypeTable<Entry: TypeEntry> {
    private static var slotCount: Int { 64 }
    private static var places: Int { 4 }
    private var slots: [(type: ObjectIdentifier, entry: Entry)?]

    init() { slots = Array(repeating: nil, count: Self.slotCount + Self.places - 1) }

    subscript(type: Any.Type) -> Entry {
        mutating get {
            let identity = ObjectIdentifier(type)
            let first = Self.slot(identity)
            for index in first..<first &+ Self.places {
                guard let slot = slots[index] else { return add(identity, type, at: index) }
                if slot.type == identity { return slot.entry }
            }
            return add(identity, type, at: first)
        }
    }

    // Apart, so that finding an entry needs no more stack than before.
    @inline(never)
    private mutating func add(_ identity: ObjectIdentifier, _ type: Any.Type, at index: Int) -> Entry {
        let entry = Entry(type)
        slots[index] = (identity, entry)
        return entry
    }

    private static func slot(_ type: ObjectIdentifier) -> Int {
        // Fibonacci hashing: the upper bits depend on all of the address.
        Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: type)) &* 0x9E37_79B9_7F4A_7C15) &>> 58)
    }
}
