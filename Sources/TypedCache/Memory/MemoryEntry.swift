import Foundation
import Synchronization

/// What memory holds under a key.
///
/// Unchecked: what may change is atomic, or belongs to the policy, under whose guard it is. The value in a
/// `ValueEntry` need not be Sendable, but then neither is its cache: the value is handed out on the one thread or
/// actor only that has the cache. Another cache of the same directory may have it dropped, which only releases a
/// reference.
class MemoryEntry: @unchecked Sendable {
    // What a hit needs comes first, so that it lies close together.
    private let counter = Atomic<UInt8>(0)
    /// Where the policy keeps what it knows of this entry.
    final var place: Int32 = -1
    /// When the entry stops being fresh, in seconds since 2001-01-01 UTC; infinity for never. Where there is a
    /// `timing`, that knows better.
    let deadline: TimeInterval
    let key: EntryKey
    let timing: EntryTiming?

    init(key: EntryKey, deadline: TimeInterval, timing: EntryTiming?) {
        self.key = key
        self.deadline = deadline
        self.timing = timing
    }

    /// The most uses that count.
    static var mostUses: UInt8 { 3 }

    /// How often this entry was used since the policy last looked. Threads that use it at once may count as one.
    final var uses: UInt8 {
        get { counter.load(ordering: .relaxed) }
        set { counter.store(newValue, ordering: .relaxed) }
    }

    final func use() {
        let uses = uses
        if uses < Self.mostUses { self.uses = uses + 1 }
    }
}

/// A value as it was saved or decoded.
final class ValueEntry<Value>: MemoryEntry, @unchecked Sendable {
    let value: Value

    init(_ value: Value, key: EntryKey, deadline: TimeInterval, timing: EntryTiming?) {
        self.value = value
        super.init(key: key, deadline: deadline, timing: timing)
    }
}

/// The archive of an object of a class: decoded anew at each fetch, so that no caller can change what another
/// one gets.
final class ArchiveEntry: MemoryEntry, @unchecked Sendable {
    let archive: [UInt8]

    init(_ archive: [UInt8], key: EntryKey, deadline: TimeInterval, timing: EntryTiming?) {
        self.archive = archive
        super.init(key: key, deadline: deadline, timing: timing)
    }
}
