import Synchronization

/// A `Mutex` with a place in the order of locks, which a debug build checks; a release build
/// has the `Mutex` alone, and calls it through this type.
///
/// As with `Mutex`, the thread must not take it again while it holds it.
///
/// Usable from inlined code: otherwise the functions below are called from other modules and not inlined there, although
/// they are inlinable.
@usableFromInline
package struct RankedMutex<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    #if DEBUG
        @usableFromInline let rank: LockRank
    #endif

    @inlinable
    package init(_ value: consuming sending Value, rank: @autoclosure () -> LockRank) {
        mutex = Mutex(value)
        #if DEBUG
            self.rank = rank()
        #endif
    }

    // As `Mutex` has it: called through generic code, with metadata made for it, a lock took 850 instructions.
    @inlinable
    @_transparent
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        #if DEBUG
            LockOrder.take(rank)
            defer { LockOrder.release(rank) }
        #endif
        return try mutex.withLock(body)
    }
}
