import Synchronization

/// One order, through the process, of the saves that were deferred and of the failures that leave an entry which must not
/// be used: a write takes the place of all that failed before it began.
package enum SaveNumber {
    private static let count = Atomic<Int>(0)

    /// The last number that was given.
    package static var last: Int { count.load(ordering: .acquiring) }

    package static func next() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
