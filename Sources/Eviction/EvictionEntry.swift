import Synchronization

/// What a policy knows of an entry. Whoever has a policy decide makes a subclass of it, with what it holds.
///
/// Unchecked: what may change is atomic, or belongs to the policy, under whose guard it is.
///
/// What a hit does is inlinable, so that it costs no call in the modules above. The class is open because no other
/// access lets them have subclasses; no product of the package has this module.
open class EvictionEntry: @unchecked Sendable {
    // What a hit needs comes first, so that it lies close together.
    @usableFromInline let counter = Atomic<UInt8>(0)
    /// Where the policy keeps what it knows of this entry.
    final var place: Int32 = -1
    /// The hash of its key.
    package final let hash: UInt64

    // With package access, the compiler takes a subclass of another module for one that calls itself.
    public init(hash: UInt64) {
        self.hash = hash
    }

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
