import Synchronization

/// The keys for which the disk may still have an entry that must not be used: it should be gone, but could not be
/// removed. Each has the number of the failure that it is for.
///
/// A write takes a key's tombstone away when it ends, but not one for a failure since it began: a deferred save may
/// fail before the call that has deferred it returns. One count of failures goes through the process, since a failure
/// and the end of a write are told to all caches of a directory.
struct Tombstones: Sendable {
    private static let failureCount = Atomic<Int>(0)
    /// The number of the last failure in the process.
    static var lastFailure: Int { failureCount.load(ordering: .acquiring) }
    /// Counts a failure, and returns its number.
    static func countFailure() -> Int { failureCount.add(1, ordering: .acquiringAndReleasing).newValue }

    private var failures: [EntryKey: Int] = [:]

    var isEmpty: Bool { failures.isEmpty }

    func contains(_ key: EntryKey) -> Bool { !failures.isEmpty && failures[key] != nil }

    mutating func change(_ key: EntryKey, _ change: MemoryTier.Tombstone) {
        switch change {
        case .added(let failure): failures[key] = max(failure, failures[key] ?? failure)
        case .removed(let last):
            if !failures.isEmpty, let failure = failures[key], failure <= last { failures[key] = nil }
        case .keep: break
        }
    }

    /// Takes away the tombstones for failures up to this one.
    mutating func removeAll(upTo last: Int) { failures = failures.filter { $0.value > last } }

    /// Takes over the tombstones of another cache of the directory.
    mutating func add(_ others: Tombstones) { failures.merge(others.failures, uniquingKeysWith: max) }
}
