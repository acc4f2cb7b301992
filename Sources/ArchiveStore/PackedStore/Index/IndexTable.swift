import Eviction

/// Slots by hash: open addressing, linear probing. A slot takes 40 to 80 bytes with the free ones beside it.
///
/// The position of a slot depends on a random number of each process, so that no caller can choose keys that crowd one
/// position.
struct IndexTable: Sendable {
    private static let multiplier = UInt64.random(in: .min ... .max) | 1

    private var slots: [IndexSlot] = []
    private var shift: UInt64 = 64
    private(set) var count = 0
    /// Bytes of all records.
    private(set) var byteCount = 0

    /// - Parameter capacity: for how many slots there is room from the start.
    init(capacity: Int = 0) {
        if capacity > 0 { resize(atLeast: capacity * 5 / 4 + 1) }
    }

    /// The slot of a key: the one with its digest; if there is none, one that may be the key's.
    func slot(_ digest: KeyDigest) -> IndexSlot? { position(digest).map { slots[$0] } }

    /// All slots with this hash.
    func all(_ hash: UInt64) -> [IndexSlot] {
        guard count > 0 else { return [] }
        var found: [IndexSlot] = []
        var position = home(hash)
        while !slots[position].isEmpty {
            if slots[position].hash == hash { found.append(slots[position]) }
            position = next(position)
        }
        return found
    }

    /// Replaces the slot of the same key, or adds the slot if there is none.
    mutating func set(_ slot: IndexSlot) {
        guard let position = position(slot.digest) else { return insert(slot) }
        replace(position, with: slot)
    }

    /// - Precondition: there is no slot of its key.
    mutating func insert(_ slot: IndexSlot) {
        if (count + 1) * 5 > slots.count * 4 { grow() }
        put(slot)
        count += 1
        byteCount += Int(slot.byteCount)
    }

    /// Replaces the slot with the same hash at `place`; returns whether there was one.
    mutating func replace(_ place: RecordPlace, with slot: IndexSlot) -> Bool {
        guard let position = position(slot.hash, place) else { return false }
        replace(position, with: slot)
        return true
    }

    private mutating func replace(_ position: Int, with slot: IndexSlot) {
        byteCount += Int(slot.byteCount) - Int(slots[position].byteCount)
        slots[position] = slot
    }

    mutating func remove(_ hash: UInt64, _ place: RecordPlace) -> IndexSlot? {
        guard let position = position(hash, place) else { return nil }
        let slot = slots[position]
        empty(position)
        count -= 1
        byteCount -= Int(slot.byteCount)
        return slot
    }

    mutating func use(_ hash: UInt64, _ place: RecordPlace) {
        guard let position = position(hash, place) else { return }
        let uses = slots[position].uses
        if uses < IndexSlot.mostUses { slots[position].uses = uses + 1 }
    }

    /// Resets the uses of an entry, and returns how many there were; `nil` if there is no such entry.
    mutating func takeUses(_ hash: UInt64, _ place: RecordPlace) -> UInt8? {
        guard let position = position(hash, place) else { return nil }
        defer { slots[position].uses = 0 }
        return slots[position].uses
    }

    func forEachSlot(_ body: (IndexSlot) -> Void) {
        for slot in slots where !slot.isEmpty { body(slot) }
    }

    /// Removes slots, and returns them.
    mutating func removeAll(where isRemoved: (IndexSlot) -> Bool) -> [IndexSlot] {
        var removed: [IndexSlot] = []
        forEachSlot { if isRemoved($0) { removed.append($0) } }
        for slot in removed { _ = remove(slot.hash, slot.place) }
        return removed
    }

    private func position(_ hash: UInt64, _ place: RecordPlace) -> Int? {
        guard count > 0 else { return nil }
        var position = home(hash)
        while !slots[position].isEmpty {
            if slots[position].hash == hash, slots[position].place == place { return position }
            position = next(position)
        }
        return nil
    }

    private func position(_ digest: KeyDigest) -> Int? {
        guard count > 0 else { return nil }
        var vague: Int?
        var position = home(digest.high)
        while !slots[position].isEmpty {
            if slots[position].hash == digest.high {
                if slots[position].digest == digest { return position }
                if slots[position].isVague { vague = position }
            }
            position = next(position)
        }
        return vague
    }

    private func home(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: (hash &* Self.multiplier) >> shift) }
    private func next(_ position: Int) -> Int { (position + 1) & (slots.count - 1) }

    private mutating func put(_ slot: IndexSlot) {
        var position = home(slot.hash)
        while !slots[position].isEmpty { position = next(position) }
        slots[position] = slot
    }

    /// Empties a position, and moves back the slots that were displaced because of it.
    private mutating func empty(_ position: Int) {
        let mask = slots.count - 1
        var hole = position
        var current = next(hole)
        while !slots[current].isEmpty {
            if (current - home(slots[current].hash)) & mask >= (current - hole) & mask {
                slots[hole] = slots[current]
                hole = current
            }
            current = next(current)
        }
        slots[hole] = .empty
    }

    /// Whether each slot is found, and counted: for tests.
    var isSound: Bool {
        let homes = slots.map { $0.isEmpty ? nil : home($0.hash) }
        let taken = slots.filter { !$0.isEmpty }
        return LinearProbing.isKept(by: homes) && count == taken.count
            && byteCount == taken.reduce(0) { $0 + Int($1.byteCount) }
    }

    private mutating func grow() { resize(atLeast: max(4, slots.count * 2)) }

    /// - Parameter capacity: is rounded up to a power of two.
    private mutating func resize(atLeast capacity: Int) {
        let former = slots
        let bits = max(2, Int.bitWidth - (capacity - 1).leadingZeroBitCount)
        slots = Array(repeating: .empty, count: 1 << bits)
        shift = UInt64(64 - bits)
        for slot in former where !slot.isEmpty { put(slot) }
    }
}
