import Synchronization

/// Finds the entries in memory by their keys.
///
/// The keys' hashes divide it into stripes, each with a lock and slots of its own: threads that ask for different
/// keys seldom wait for each other, and for the policy never.
///
/// A plain pointer, not an object: references that every hit counts would have all threads write to one place.
/// ``SharedMemory`` has it, and deallocates it at its own end. It is used by methods of `SharedMemory`, or of a cache,
/// which keep the `SharedMemory` alive.
///
/// Unchecked: the stripes lie in plain memory, for an array could not hold locks; the slots of a stripe are reached
/// under its lock only.
struct EntryTable: @unchecked Sendable {
    private struct Stripe: ~Copyable {
        // No ranked lock: that took a seventh more of each hit. No other lock is taken under it.
        let slots = Mutex(EntrySlots())
    }

    private static let stripeCount = 64
    /// Two lines of the processor's cache, which are fetched together: neighbors share none.
    private static let stripeByteCount = 128
    private let stripes: UnsafeMutableRawPointer

    init() {
        stripes = .allocate(byteCount: Self.stripeCount * Self.stripeByteCount, alignment: Self.stripeByteCount)
        for index in 0..<Self.stripeCount {
            (stripes + index * Self.stripeByteCount).initializeMemory(as: Stripe.self, to: Stripe())
        }
    }

    func deallocate() {
        for index in 0..<Self.stripeCount { stripe(index).deinitialize(count: 1) }
        stripes.deallocate()
    }

    /// The entry for a key, which counts as used then, and as a hit if it never expires.
    func hit(_ key: EntryKey) -> MemoryEntry? {
        stripe(of: key).pointee.slots.withLock { slots in
            guard let entry = slots.entry(forKey: key) else { return nil }
            entry.use()
            if entry.deadline == .infinity { slots.hits += 1 }
            return entry
        }
    }

    /// Whether there is an entry for a key. Gives out no reference, so no entry is released by the caller.
    func contains(_ key: EntryKey) -> Bool {
        stripe(of: key).pointee.slots.withLock { $0.entry(forKey: key) != nil }
    }

    /// How often the entry for a key was used since this was last asked; 0 if there is none. Gives out no reference, as
    /// ``contains(_:)``.
    func takeUses(_ key: EntryKey) -> UInt8 {
        stripe(of: key).pointee.slots.withLock { slots in
            guard let entry = slots.entry(forKey: key) else { return 0 }
            defer { entry.uses = 0 }
            return entry.uses
        }
    }

    func entry(forKey key: EntryKey) -> MemoryEntry? {
        stripe(of: key).pointee.slots.withLock { $0.entry(forKey: key) }
    }

    /// Counts a hit on an entry that expires, but has not yet.
    func countHit(_ key: EntryKey) { stripe(of: key).pointee.slots.withLock { $0.hits += 1 } }

    /// Takes a hit back on an entry that never expires, and whose value cannot be used.
    func uncountHit(_ key: EntryKey) { stripe(of: key).pointee.slots.withLock { $0.hits -= 1 } }

    /// Counts hits on entries that expire, but have not yet, for any keys.
    func countHits(_ count: Int) {
        if count > 0 { stripe(0).pointee.slots.withLock { $0.hits += count } }
    }

    var hits: Int {
        (0..<Self.stripeCount).reduce(0) { $0 + stripe($1).pointee.slots.withLock { $0.hits } }
    }

    /// Puts an entry in.
    ///
    /// - Precondition: there is none with its key.
    func insert(_ entry: MemoryEntry) {
        stripe(of: entry.key).pointee.slots.withLock { $0.insert(entry) }
    }

    func remove(forKey key: EntryKey) -> MemoryEntry? {
        stripe(of: key).pointee.slots.withLock { $0.remove(forKey: key) }
    }

    /// Takes out all entries.
    func removeAll() -> [MemoryEntry] {
        var entries: [MemoryEntry] = []
        for index in 0..<Self.stripeCount {
            stripe(index).pointee.slots.withLock { entries += $0.removeAll() }
        }
        return entries
    }

    // MARK: Stripes

    private func stripe(of key: EntryKey) -> UnsafeMutablePointer<Stripe> {
        stripe(Int(truncatingIfNeeded: key.hash >> 58))
    }

    private func stripe(_ index: Int) -> UnsafeMutablePointer<Stripe> {
        (stripes + index * Self.stripeByteCount).assumingMemoryBound(to: Stripe.self)
    }
}
