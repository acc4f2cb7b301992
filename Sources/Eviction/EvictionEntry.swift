import Synchronization

/// An entry as a policy knows it. The owner of a policy makes a subclass of it, with the contents of its entries.
///
/// Unchecked: every mutable field is atomic, or belongs to the policy and shares its guard.
///
/// The code of a hit is inlinable, so that it costs no call in the modules above. The class is open because no other
/// access level lets them have subclasses; no product of the package has this module.
open class EvictionEntry: @unchecked Sendable {
    @usableFromInline let counter = Atomic<UInt8>(0)
    /// The index of this entry's node in the policy.
    final var place: Int32 = -1

    // With package access, the compiler takes a subclass of another module for one that calls itself.
    public init() {}

    /// The hash of its key, which the policy asks for when the entry comes and when it is evicted.
    open var hash: UInt64 { preconditionFailure("a subclass has the key") }

    /// The most uses that count.
    @inlinable package static var mostUses: UInt8 { 3 }

    /// How often this entry was used since the policy last looked. Threads that use it at once may count as one.
    @inlinable package final var uses: UInt8 {
        get { counter.load(ordering: .relaxed) }
        set { counter.store(newValue, ordering: .relaxed) }
    }

    /// Called by the policy before it reads ``uses``: for entries that are used elsewhere too, to count that in.
    open func gatherUses() {}

    @inlinable package final func use() {
        let uses = uses
        if uses < Self.mostUses { self.uses = uses + 1 }
    }
}
