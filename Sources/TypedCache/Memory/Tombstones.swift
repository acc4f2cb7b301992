import ArchiveStore
import Synchronization

/// The keys for which the disk may still have an entry that must not be used: it should be gone, but could not be
/// removed. All caches of a directory have the same object, also a cache that is opened after the last other one was closed.
///
/// Each key has the number of the failed save, or of the failure itself, see ``SaveNumber``. A write takes a key's
/// tombstone away when it ends, but not one with a number since it began: a deferred save may fail before the call that
/// has deferred it returns.
final class Tombstones: Sendable {
    /// The change of a key's tombstone.
    enum Change {
        /// The key has one with this number.
        case added(Int)
        /// The key has none with this number or a lower one.
        case removed(last: Int)
        case keep

        /// For a failure just now.
        static var add: Self { .added(SaveNumber.next()) }
        /// For all failures so far: all from before a write, where it ends one.
        static var remove: Self { .removed(last: .max) }

        /// The same as the end of a write: one with a number since it began stays.
        func ending(_ write: MemoryTier.Start) -> Self {
            if case .removed(let last) = self { .removed(last: min(last, write.saveNumber)) } else { self }
        }
    }

    private let numbers = RankedMutex<[EntryKey: Int]>([:], rank: CacheLocks.tombstones)
    /// How many keys have one, for the many calls that find none.
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .acquiring) == 0 }

    func contains(_ key: EntryKey) -> Bool { !isEmpty && numbers.withLock { $0[key] != nil } }

    func change(_ key: EntryKey, _ change: Change) {
        switch change {
        case .added(let number): update { $0[key] = max(number, $0[key] ?? number) }
        case .removed(let last):
            if isEmpty { return }
            update { numbers in
                if let number = numbers[key], number <= last { numbers[key] = nil }
            }
        case .keep: break
        }
    }

    /// Takes away the tombstones with this number or a lower one.
    func removeAll(upTo last: Int) {
        if !isEmpty { update { $0 = $0.filter { $0.value > last } } }
    }

    private func update(_ body: (inout [EntryKey: Int]) -> Void) {
        numbers.withLock { numbers in
            body(&numbers)
            count.store(numbers.count, ordering: .releasing)
        }
    }
}
