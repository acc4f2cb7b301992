#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Checks in a debug build that each thread takes its locks in their order; does nothing in a release build.
///
/// Each thread has a list of the ranks that it holds. A mistake ends the process with the names of both locks, whether
/// or not another thread happened to take them the other way round just then.
@usableFromInline
package enum LockOrder {
    /// Notes that the thread is about to take a lock.
    ///
    /// - Precondition: it holds none of the same or a higher rank.
    @inlinable
    @inline(__always)
    package static func take(_ rank: @autoclosure () -> LockRank) {
        #if DEBUG
            HeldLocks.current.take(rank())
        #endif
    }

    /// Notes that the thread has given a lock back.
    @inlinable
    @inline(__always)
    package static func release(_ rank: @autoclosure () -> LockRank) {
        #if DEBUG
            HeldLocks.current.release(rank())
        #endif
    }

    /// Checks that the thread holds no lock from a rank on, before it calls code that may take any of them.
    @inlinable
    @inline(__always)
    package static func expectNone(from rank: @autoclosure () -> LockRank) {
        #if DEBUG
            HeldLocks.current.expectNone(from: rank())
        #endif
    }
}

#if DEBUG
    /// The ranks of the locks that one thread holds, in the order in which it took them.
    @usableFromInline
    final class HeldLocks {
        private var ranks: [LockRank] = []

        private init() {}

        @usableFromInline
        func take(_ rank: LockRank) {
            if let last = ranks.last {
                precondition(
                    last.number < rank.number,
                    "the lock \"\(rank.name)\" is taken while \"\(last.name)\" is held, which comes after it"
                )
            }
            ranks.append(rank)
        }

        @usableFromInline
        func release(_ rank: LockRank) {
            guard let position = ranks.lastIndex(where: { $0.number == rank.number }) else {
                preconditionFailure("the lock \"\(rank.name)\" is given back, but this thread does not hold it")
            }
            ranks.remove(at: position)
        }

        @usableFromInline
        func expectNone(from rank: LockRank) {
            if let held = ranks.last(where: { $0.number >= rank.number }) {
                preconditionFailure("the lock \"\(held.name)\" is held where none from \"\(rank.name)\" on may be")
            }
        }

        // MARK: The current thread's

        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            let result = pthread_key_create(&key) { list in
                #if canImport(Glibc) || canImport(Musl)
                    guard let list else { return }
                #endif
                Unmanaged<HeldLocks>.fromOpaque(list).release()
            }
            precondition(result == 0, "there is no room for a list of each thread's locks")
            return key
        }()

        @usableFromInline
        static var current: HeldLocks {
            if let list = pthread_getspecific(key) {
                return Unmanaged<HeldLocks>.fromOpaque(list).takeUnretainedValue()
            }
            let list = HeldLocks()
            pthread_setspecific(key, Unmanaged.passRetained(list).toOpaque())
            return list
        }
    }
#endif
