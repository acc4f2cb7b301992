import ArchiveStore
import Eviction
import Foundation

/// An entry in memory; a subclass has its value.
///
/// Unchecked: only the policy's fields may change, and the version, under the tier's lock once memory has
/// the entry. The value in a `ValueEntry` need not be Sendable, but then neither
/// is its cache: the value is handed out only on the one thread or actor that has the cache. Another cache of the same
/// directory may have it dropped, which only releases a reference.
class MemoryEntry: EvictionEntry, @unchecked Sendable {
    /// When the entry stops being fresh, in seconds since 2001-01-01 UTC; infinity for never. Where there is a
    /// `timing`, that knows better.
    final let deadline: TimeInterval
    final let key: EntryKey
    override final var hash: UInt64 { key.hash }
    final let timing: EntryTiming?
    /// In bytes, as the limit of memory counts them; zero or more.
    final let cost: Int
    /// The version that a server has of the entry, see `EntryIdentity`; 0 if there is none, or it is not known.
    final var version: UInt64 = 0

    init(key: EntryKey, cost: Int, deadline: TimeInterval, timing: EntryTiming?) {
        self.key = key
        self.cost = cost
        self.deadline = deadline
        self.timing = timing
        super.init()
    }

    /// Whether the entry is fresh at `now`. Moves no idle deadline.
    final func isFresh(at now: TimeInterval) -> Bool { now < timing?.deadline ?? deadline }

    /// The deadline as a date; `nil` for never.
    final var freshUntil: Date? {
        let deadline = timing?.deadline ?? deadline
        return deadline == .infinity ? nil : Date(timeIntervalSinceReferenceDate: deadline)
    }

    /// The same value with the deadline that these attributes say.
    func copy(_ attributes: EntryAttributes) -> MemoryEntry { preconditionFailure("a subclass has the value") }
}

extension EntryAttributes {
    /// The deadline as entries in memory have it.
    var memoryDeadline: TimeInterval { expiresAt?.timeIntervalSinceReferenceDate ?? .infinity }
}

/// The result of one of several keys: a `ValueEntry`, `nil` where there is none. Not the value, which code that is generic
/// over values copies by its type's witnesses, and not in an array of a type that the runtime is asked for at each step.
typealias FetchedEntry = Result<MemoryEntry?, CacheError>

/// The results of a call for several keys.
@usableFromInline
struct FetchedValues<Value> {
    let entries: [FetchedEntry]
    /// For each key of the call the place of its entry.
    let places: [Int]

    /// The value of a key, by its place in the call.
    @usableFromInline
    func value(at index: Int) throws(CacheError) -> Value? {
        // Not by `map`, which asks the runtime for its types.
        guard let entry = try entries[places[index]].get() else { return nil }
        return unsafeDowncast(entry, to: ValueEntry<Value>.self).value
    }

    /// The values by the keys of the call.
    ///
    /// - Throws: the error of the first key that failed.
    @inlinable
    func named<Key>(_ keys: [Key]) throws(CacheError) -> [Key: Value] {
        var named = [Key: Value](minimumCapacity: keys.count)
        for index in keys.indices {
            if let value = try value(at: index) { named[keys[index]] = value }
        }
        return named
    }
}

/// A value as it was saved or decoded. Unchecked as `MemoryEntry` is, whose argument covers the value.
final class ValueEntry<Value>: MemoryEntry, @unchecked Sendable {
    let value: Value

    // Required, for ``MemoryForm`` has the type at hand.
    required init(_ value: Value, key: EntryKey, cost: Int, deadline: TimeInterval, timing: EntryTiming?) {
        self.value = value
        super.init(key: key, cost: cost, deadline: deadline, timing: timing)
    }

    /// A value that goes to a caller, and not to memory.
    convenience init(holding value: Value, of key: EntryKey) {
        self.init(value, key: key, cost: 0, deadline: .infinity, timing: nil)
    }

    override func copy(_ attributes: EntryAttributes) -> MemoryEntry {
        ValueEntry(
            value,
            key: key,
            cost: cost,
            deadline: attributes.memoryDeadline,
            timing: EntryTiming.of(attributes)
        )
    }
}

/// The archive of a value that is not shared: decoded again at each fetch, so that no caller can change the value that
/// another one gets. Unchecked as `MemoryEntry` is; the archive never changes.
final class ArchiveEntry: MemoryEntry, @unchecked Sendable {
    let archive: [UInt8]

    init(_ archive: [UInt8], key: EntryKey, cost: Int, deadline: TimeInterval, timing: EntryTiming?) {
        self.archive = archive
        super.init(key: key, cost: cost, deadline: deadline, timing: timing)
    }

    override func copy(_ attributes: EntryAttributes) -> MemoryEntry {
        ArchiveEntry(
            archive,
            key: key,
            cost: cost,
            deadline: attributes.memoryDeadline,
            timing: EntryTiming.of(attributes)
        )
    }
}
