/// A fact about a type that takes several look-ups of the runtime to find out.
protocol TypeEntry {
    init(_ type: Any.Type)
}

/// The entries of the types that were archived or decoded last.
///
/// A table by the types' addresses, in which a type takes the place of another one. A type never goes away.
struct TypeTable<Entry: TypeEntry> {
    private var slots = [(type: ObjectIdentifier, entry: Entry)?](repeating: nil, count: 64)

    subscript(type: Any.Type) -> Entry {
        mutating get {
            let identity = ObjectIdentifier(type)
            // Addresses are multiples of 8, and most types' far apart.
            let address = UInt(bitPattern: identity)
            let index = Int(truncatingIfNeeded: (address &>> 3) ^ (address &>> 9)) & 63
            if let slot = slots[index], slot.type == identity { return slot.entry }
            let entry = Entry(type)
            slots[index] = (identity, entry)
            return entry
        }
    }
}
