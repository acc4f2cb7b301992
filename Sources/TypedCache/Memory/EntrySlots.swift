import Eviction

/// Entries by key: a table as ``LinearProbing`` says, at most three quarters full.
///
/// A slot holds the whole hash, so that other keys are next to never compared, and none is hashed again when the table
/// grows.
struct EntrySlots {
    private struct Slot {
        var hash: UInt64
        var entry: MemoryEntry?
    }

    private var slots: [Slot] = []
    private var count = 0
    var hits = 0

    @inline(__always) func entry(forKey key: EntryKey) -> MemoryEntry? {
        find(key)?.entry
    }

    /// - Precondition: there is none with its key.
    mutating func insert(_ entry: MemoryEntry) {
        if (count + 1) * 4 > slots.count * 3 { grow() }
        count += 1
        put(Slot(hash: entry.key.hash, entry: entry))
    }

    mutating func remove(forKey key: EntryKey) -> MemoryEntry? {
        guard let (position, entry) = find(key) else { return nil }
        vacate(position)
        return entry
    }

    /// Takes out all entries.
    mutating func removeAll() -> [MemoryEntry] {
        let entries = slots.compactMap(\.entry)
        slots = []
        count = 0
        return entries
    }

    // Inlined into hits, like its callers: the fewer instructions from one hit to the next, the more of a hit's
    // waiting for memory overlaps with the next one's; with 100,000 keys that is most of its time.
    @inline(__always) private func find(_ key: EntryKey) -> (position: Int, entry: MemoryEntry)? {
        guard !slots.isEmpty else { return nil }
        let mask = slots.count - 1
        var position = Int(truncatingIfNeeded: key.hash) & mask
        while slots[position].entry != nil {
            // An entry of another hash is not touched, for it lies elsewhere in memory.
            if slots[position].hash == key.hash, let entry = slots[position].entry, entry.key == key {
                return (position, entry)
            }
            position = (position + 1) & mask
        }
        return nil
    }

    private mutating func put(_ slot: Slot) {
        let mask = slots.count - 1
        var position = Int(truncatingIfNeeded: slot.hash) & mask
        while slots[position].entry != nil { position = (position + 1) & mask }
        slots[position] = slot
    }

    /// Frees a slot, and moves up the entries that lie further back because it was taken.
    private mutating func vacate(_ position: Int) {
        let mask = slots.count - 1
        count -= 1
        var hole = position
        var next = (hole + 1) & mask
        while slots[next].entry != nil {
            let home = Int(truncatingIfNeeded: slots[next].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                slots.swapAt(hole, next)
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole].entry = nil
    }

    /// Whether each entry is found, and counted: for tests.
    var isSound: Bool {
        let mask = slots.count - 1
        let homes = slots.map { $0.entry == nil ? nil : Int(truncatingIfNeeded: $0.hash) & mask }
        return LinearProbing.isKept(by: homes) && count == slots.count(where: { $0.entry != nil })
    }

    private mutating func grow() {
        let former = slots
        slots = Array(repeating: Slot(hash: 0, entry: nil), count: max(8, former.count * 2))
        for slot in former where slot.entry != nil { put(slot) }
    }
}
